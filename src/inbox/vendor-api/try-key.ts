import { Fault } from '../../lib/fault'
import type { KeyFacts, KnownEvent, VendorApi, VendorHost } from '../../vendors/api'
import { SAMPLE_EVENT } from '../../vendors/samples'
import { fetchVendor, isIdOf, type VendorAnswer, type VendorCall, VendorCallError } from './fetch-vendor'
import { otherMode } from './keys'
import { MAX_WRITES_NAMED, TRY_WITHIN } from './limits'
import type { Permissions } from './schema'
import { SHARED_LIMIT, type Turn } from './turn'

/** What a trial of a key has shown. `account`: see the column. */
export type Tried = { permissions: Permissions; account: 'same' | null }

/** What a key is to be compared with. */
export type Expected = { livemode: boolean; events: readonly KnownEvent[]; turn: Turn }

/**
 * Checks a vendor's API key: what it can read, and whether its mode and account are those of the connection. All calls run
 * side by side, and nothing is stored.
 *
 * @throws {Fault} `api_key_invalid`, `api_key_too_powerful`, `api_key_other_mode`, `api_key_other_account`; `vendor_failed` if the
 *   vendor could not be asked
 */
export async function tryKey(api: VendorApi, key: string, { livemode, events, turn }: Expected): Promise<Tried> {
  requireForm(api, key)
  const isLive = api.livemodeOf(key)
  if (isLive !== null && isLive !== livemode) throw otherMode(isLive)
  const ask = (call: VendorCall | undefined) => (call ? answered(api, key, call, turn) : null)
  const [about, lists, sights] = await Promise.all([
    ask(api.about),
    Promise.all(api.reads.map(({ probe }) => ask(probe))),
    Promise.all(events.map((event) => ask(sightOf(api, event)))),
  ])
  const answers = [about, ...lists, ...sights].filter((one) => one !== null)
  requireAnswers(api, answers)
  const facts = about ? factsOf(api, about) : null
  if (facts) requireOnlyReads(facts, livemode)
  const permissions = api.reads.map(({ kind, permission }, index) => {
    const list = lists[index]
    // Whatever else the vendor finds wrong with a request, it has got past the permission.
    const may = list ? list.outcome !== 'permission_missing' : facts?.permissions.includes(permission) === true
    return [kind, may ? 'ok' : 'refused'] as const
  })
  return { permissions: Object.fromEntries(permissions), account: accountOf(sights) }
}

/** @throws {Fault} `api_key_invalid`, `api_key_too_powerful` */
export function requireForm(api: Pick<VendorApi, 'checkKey'>, key: string): void {
  const wrong = api.checkKey(key)
  if (!wrong) return
  throw new Fault(wrong.problem === 'too_powerful' ? 'api_key_too_powerful' : 'api_key_invalid', wrong.why)
}

/** @throws {Fault} `vendor_failed` */
async function answered(api: VendorApi, key: string, call: VendorCall, turn: Turn): Promise<VendorAnswer> {
  try {
    return await fetchVendor(api, key, call, { within: TRY_WITHIN, turn })
  } catch (error) {
    if (!(error instanceof VendorCallError)) throw error
    throw vendorFailed(`${error.message} Nothing was stored.`)
  }
}

function vendorFailed(detail: string): Fault {
  return new Fault('vendor_failed', detail)
}

/** The fault of a key that the vendor refuses. */
export function keyUnknown({ vendor }: Pick<VendorHost, 'vendor'>): Fault {
  return new Fault('api_key_invalid', `${vendor} does not know this key, or has revoked it.`)
}

/** A test event tells nothing: we made it, and what it is about. Nor does one whose object has an id that no path can have. */
function sightOf(api: VendorApi, event: KnownEvent): VendorCall | undefined {
  if (event.vendor_event_id.startsWith(SAMPLE_EVENT)) return undefined
  const sight = api.sightOf(event)
  return sight && isIdOf(api, sight.id) ? { pattern: sight.pattern, ids: { id: sight.id } } : undefined
}

function requireAnswers(api: VendorApi, answers: readonly VendorAnswer[]): void {
  if (answers.some(({ outcome }) => outcome === 'key_refused')) throw keyUnknown(api)
  if (answers.some(({ code }) => code === SHARED_LIMIT))
    throw vendorFailed(
      `All projects together are sending ${api.vendor} too many requests. Wait a minute and try again. Nothing was stored.`,
    )
  const failed = answers.find(({ outcome }) => outcome === 'failed')
  if (failed) throw vendorFailed(`${api.vendor} answered with ${failed.status}. Nothing was stored.`)
}

function factsOf(api: VendorApi, about: VendorAnswer): KeyFacts {
  const facts = about.outcome === 'ok' && about.body ? api.about?.facts(about.body) : null
  if (!facts) throw vendorFailed(`${api.vendor} did not say what the key can do. Nothing was stored.`)
  return facts
}

function requireOnlyReads({ livemode: isLive, writes }: KeyFacts, livemode: boolean): void {
  if (isLive !== livemode) throw otherMode(isLive)
  if (writes.length === 0) return
  const named = writes.filter((one) => /^[\w.]{1,60}$/.test(one)).slice(0, MAX_WRITES_NAMED)
  const more = writes.length > named.length ? ', and more' : ''
  throw new Fault('api_key_too_powerful', `The key can do more than read: ${named.join(', ')}${more}.`)
}

/** @throws {Fault} `api_key_other_account` if the account has none of what the connection has received */
function accountOf(sights: readonly (VendorAnswer | null)[]): 'same' | null {
  const told = sights.filter((one) => one?.outcome === 'ok' || one?.outcome === 'gone')
  if (told.some((one) => one?.outcome === 'ok')) return 'same'
  if (told.length === 0) return null
  throw new Fault(
    'api_key_other_account',
    "The key's account does not have the newest events of the connection, or the objects in them. Use a key of the account that sends them.",
  )
}
