import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { SECOND } from '../../lib/time'
import type { ThinObject } from '../../vendors/calls'
import { type EventError, fail } from '../../vendors/event-errors'
import { answerOf, ask, type Fetched } from '../refresh/ask'
import { openSourceKey, type SourceKey } from '../refresh/keys'
import type { VendorAnswer } from '../vendor-api/fetch-vendor'
import { markRefused, pauseKey } from '../vendor-api/keys'
import { MAX_PAUSE_MS } from '../vendor-api/limits'
import { CALL_WITHIN_MS, LEAST_FOR_A_CALL_MS, PAUSE_MS } from './limits'
import type { Group } from './named'

/** Why the vendor did not say what was asked. `wait`: how long it wants not to be asked (ms). */
export type Failed = { error: EventError; wait: number }

/**
 * The result of asking for the object of a group. `unreached`: there was no time left. `gone`: the vendor's answer that it has no such object.
 */
type Asked =
  | { as: 'found'; key: SourceKey; objects: Fetched[] }
  | { as: 'gone'; key: SourceKey; answer: VendorAnswer }
  | ({ as: 'failed' } & Failed)
  | { as: 'unreached' }

/**
 * Asks for the object that the events of a group name.
 *
 * @param until the time (ms) by which all calls must be answered
 * @param failing the connections whose vendors have failed in this batch: they are not asked again, and one that fails is added
 */
export async function askFor(
  rt: Runtime,
  { row, named, cause }: Group,
  until: number,
  failing: Set<string>,
): Promise<Asked> {
  if (!isTimeFor(until)) return { as: 'unreached' }
  if (row.key.state !== 'ok') return { as: 'failed', error: REFUSED, wait: 0 }
  const pause = (row.key.not_before ?? 0) - Date.now()
  if (pause > 0) return { as: 'failed', error: PAUSED, wait: pause }
  if (failing.has(row.key.connection_id)) return { as: 'unreached' }
  const key = await opened(rt, row)
  if ('error' in key) return { as: 'failed', error: key.error, wait: 0 }
  const asked = await ask(key, [named.call], until, CALL_WITHIN_MS)
  const { first } = asked
  if (first?.outcome === 'gone') return { as: 'gone', key, answer: first }
  if (first?.outcome === 'ok' && asked.objects.length > 0) {
    return { as: 'found', key, objects: asked.objects.map((one) => ({ ...one, cause })) }
  }
  // It has nothing of the kind.
  if (first?.outcome === 'ok' && first.body && named.list?.isEmpty(first.body))
    return { as: 'gone', key, answer: first }
  failing.add(row.key.connection_id)
  return { as: 'failed', ...(await failedBy(rt, row, first)) }
}

/**
 * Looks for the vendor's own event that contains the object: it may still have that, where it has the object no more.
 *
 * @returns the event's answer; `none` if the vendor has no event with the object; `lost` if it does not have this event itself, so that
 *   nothing can be said of the object: the key may be of another account
 */
export async function askForFull(
  rt: Runtime,
  { row, key }: { row: Group['row']; key: SourceKey },
  { event }: ThinObject,
  until: number,
): Promise<VendorAnswer | 'none' | 'lost' | 'unreached' | Failed> {
  if (!event) return 'none'
  if (!isTimeFor(until)) return 'unreached'
  const thin = await answerOf(key, event.call, until, CALL_WITHIN_MS)
  if (thin?.outcome === 'gone') return 'lost'
  if (thin?.outcome !== 'ok' || !thin.body) return failedBy(rt, row, thin)
  const call = event.full(thin.body)
  if (!call) return 'none'
  if (!isTimeFor(until)) return 'unreached'
  const full = await answerOf(key, call, until, CALL_WITHIN_MS)
  if (full?.outcome === 'gone') return 'lost'
  return full?.outcome === 'ok' && full.body ? full : failedBy(rt, row, full)
}

const isTimeFor = (until: number) => until - Date.now() >= LEAST_FOR_A_CALL_MS

const REFUSED = fail('vendor_key_refused', 'the vendor does not accept the API key of the connection')

const PAUSED = fail('vendor_failed', 'the vendor failed or asked us to wait, and is not asked again yet')

async function opened(rt: Runtime, row: Group['row']): Promise<SourceKey | { error: EventError }> {
  try {
    return (await openSourceKey(rt, row, 'background')) ?? { error: REFUSED }
  } catch (error) {
    if (error instanceof Fault) return { error: fail('internal_error', error.message) }
    throw error
  }
}

/** Why an answer is of no use. A key that the vendor does not accept is noted. @param answer null if there was none in time */
async function failedBy(rt: Runtime, { key }: Group['row'], answer: VendorAnswer | null): Promise<Failed> {
  if (!answer) {
    await pauseKey(rt.db, key, Date.now() + PAUSE_MS)
    return { error: fail('vendor_failed', 'the vendor did not answer in time'), wait: 0 }
  }
  const { outcome, status, code, retry_after_s } = answer
  const wait = (retry_after_s ?? 0) * SECOND
  if (outcome === 'key_refused') {
    await markRefused(rt.db, key)
    return { error: REFUSED, wait }
  }
  const said = `the vendor answered ${status}${code === null ? '' : ` (${code})`}`
  if (outcome === 'permission_missing') {
    return { error: fail('vendor_key_refused', `${said}: the API key cannot read such objects`), wait }
  }
  if (outcome === 'failed') {
    await pauseKey(rt.db, key, Date.now() + Math.min(Math.max(wait, PAUSE_MS), MAX_PAUSE_MS))
  }
  return { error: fail('vendor_failed', outcome === 'ok' ? 'the answer from the vendor has no object' : said), wait }
}
