import type { Runtime } from '../env'
import { BoundedMap } from '../lib/bounded-map'
import type { Actor } from './actor'
import { MAX_KNOWN_CREDENTIALS, OWN_LIMIT_READ_EVERY, RATE_LIMITS, RETRY_AFTER } from './limits'
import { isWithin, overLimit } from './rate-limit'

/** The limits in which those of single keys are counted, the lower first. */
const COUNTED_IN = ['auth_failure', 'unknown_connection', 'caller_writes', 'credential'] as const

/** How many requests this isolate has counted of each key with a limit of its own. */
const counted = new BoundedMap<string, number>(MAX_KNOWN_CREDENTIALS)

/** When this isolate last had a key looked up that was over the limit it remembers (ms). */
const lookedUp = new BoundedMap<string, number>(MAX_KNOWN_CREDENTIALS)

/**
 * Counts a request of a key as this isolate remembers it. A key over its limit is refused without asking the database, except
 * once every few seconds, because somebody may have raised the limit.
 *
 * @returns true: within the limit; false: the caller must read the current limit from the database
 * @throws {Fault} `rate_limited`
 */
export async function countRemembered(rt: Pick<Runtime, 'limits' | 'now'>, actor: Actor): Promise<boolean> {
  try {
    await countOwn(rt, actor)
    return true
  } catch (error) {
    if ((lookedUp.get(actor.id) ?? 0) > rt.now - OWN_LIMIT_READ_EVERY) throw error
    lookedUp.set(actor.id, rt.now)
    return false
  }
}

/**
 * Counts a request against the limit of its API key, if it has one. The limit of a binding is fixed, so a request counts there as often
 * as it must for the key's number to use it up: with 150 of 600, four times, and at most six times. What is left of a division is carried on to the
 * next request, so that in one isolate the number is exact.
 *
 * @throws {Fault} `rate_limited`
 */
export async function countOwn({ limits }: Pick<Runtime, 'limits'>, actor: Actor): Promise<void> {
  if (actor.type !== 'api_key' || actor.per_minute === undefined) return
  const own = actor.per_minute
  const name = COUNTED_IN.find((of) => RATE_LIMITS[of].requests >= own) ?? 'credential'
  // With the number: a limit that was changed begins anew.
  const key = `own:${actor.id}:${own}`
  const before = counted.get(key) ?? 0
  counted.set(key, (before + 1) % own)
  const { requests, window } = RATE_LIMITS[name]
  const upTo = (n: number) => Math.floor((n * requests) / own)
  for (let units = upTo(before + 1) - upTo(before); units > 0; units--) {
    if (await isWithin(limits[name], key)) continue
    const detail = `This API key has a limit of its own, its rate_limit: ${own} requests a minute. Wait and try again.`
    throw overLimit({ name: 'api_key', requests: own, window }, detail, RETRY_AFTER)
  }
}
