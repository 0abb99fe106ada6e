import * as z from 'zod'
import type { Runtime } from '../env'
import { ourHosts } from '../http/our-hosts'
import { fromBase64 } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { fetchOutside, OutsideRefusal } from '../lib/fetch-outside'
import { KEYS_FOR, KEYS_PAUSE, MAX_GITHUB_KEYS_BYTES, UNKNOWN_KEY_EVERY } from './limits'

/** Where GitHub publishes the keys with which it signs reports. */
const ADDRESS = 'https://api.github.com/meta/public_keys/secret_scanning'

const Published = z.object({
  public_keys: z.array(z.object({ key_identifier: z.string(), key: z.string(), is_current: z.boolean() })).max(20),
})

/** The keys as this isolate read them, by their ids, and when it asked (ms). */
let held: { keys: ReadonlyMap<string, CryptoKey>; etag: string | null; askedAt: number } | null = null
/** When GitHub last failed to give the keys (ms). */
let failedAt = Number.NEGATIVE_INFINITY

/**
 * The public key of GitHub's with this id. The keys are asked for again after an hour, and at most once a minute for an id that is not
 * among them: anybody can invent one.
 *
 * @returns null if GitHub does not sign with such a key now
 * @throws {Fault} `vendor_failed` if the keys are needed and GitHub does not give them
 */
export async function githubKey(rt: Runtime, id: string): Promise<CryptoKey | null> {
  const known = held?.keys.get(id)
  const age = held === null ? Number.POSITIVE_INFINITY : rt.now - held.askedAt
  if (age < (known ? KEYS_FOR : UNKNOWN_KEY_EVERY)) return known ?? null
  try {
    await refresh(rt)
  } catch (error) {
    if (!known) throw error // What is known stays in use.
    return known
  }
  return held?.keys.get(id) ?? null
}

async function refresh(rt: Runtime): Promise<void> {
  if (rt.now - failedAt < KEYS_PAUSE) throw failed('it did not give them a moment ago')
  const before = held
  // At once, so that requests beside this one do not ask too. Without any keys they must: a report that is refused is not sent again.
  if (before) held = { ...before, askedAt: rt.now }
  try {
    const response = await fetchOutside(ADDRESS, {
      ours: ourHosts(rt.settings),
      accept: ['application/json'],
      headers: { 'User-Agent': 'platform-api-exposures/1', ...(before?.etag && { 'If-None-Match': before.etag }) },
      most: MAX_GITHUB_KEYS_BYTES,
    })
    if (response.status === 304) return
    if (!response.ok) throw failed(`it answered with ${response.status}`)
    const { public_keys } = Published.parse(await response.json())
    const current = public_keys.filter(({ is_current }) => is_current)
    const keys = await Promise.all(
      current.map(async ({ key_identifier, key }) => [key_identifier, await keyOf(key)] as const),
    )
    held = { keys: new Map(keys), etag: response.headers.get('ETag'), askedAt: rt.now }
  } catch (error) {
    failedAt = rt.now
    if (held?.askedAt === rt.now) held = before
    if (error instanceof Fault) throw error
    throw failed(error instanceof OutsideRefusal ? error.message : 'its answer cannot be read', error)
  }
}

function keyOf(pem: string): Promise<CryptoKey> {
  const bytes = fromBase64(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''))
  if (!bytes) throw failed('one of its keys cannot be read')
  return crypto.subtle.importKey('spki', bytes, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])
}

function failed(why: string, cause?: unknown): Fault {
  return new Fault('vendor_failed', `GitHub’s public keys could not be read: ${why}. Send the report again.`, { cause })
}
