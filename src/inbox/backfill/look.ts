import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { DAY, HOUR, isoDay } from '../../lib/time'
import { vendorOf } from '../../vendors'
import { isObject, type Json } from '../../vendors/lib/json'
import type { PastEvents } from '../../vendors/past-events'
import { apart } from '../fetches/apart'
import { FAILED_WAIT_S } from '../fetches/limits'
import { isFilling } from '../imports/filling'
import { FILLING_WAIT_MS } from '../imports/limits'
import { ifOpened, openSourceKey, type SourceKey, type SourceKeyRow } from '../refresh/keys'
import { fetchVendor, type VendorAnswer, VendorCallError } from '../vendor-api/fetch-vendor'
import { markRefused } from '../vendor-api/keys'
import { type BackfillRow, keepLook, type TakenLook, takeLook } from './lease'
import {
  FAILED_WAIT_MS,
  LOOK_EVERY_MS,
  LOOK_STATEMENTS,
  LOOK_WITHIN_MS,
  MAX_GAPS,
  MISSED_DAYS,
  NEXT_PAGE_WAIT_S,
  OVERLAP_MS,
  PAGES_A_MESSAGE,
  REFUSED_WAIT_MS,
  SETTLED_MS,
} from './limits'
import { type BackfillMessage, sendBackfills } from './message'
import { recordMissed } from './record-missed'
import type { BackfillError, Gap } from './schema'

/**
 * Compares vendors' lists of events with what was received, one connection after the other. If there is no time for a connection, its message
 * comes again.
 *
 * @returns for each message, after how many seconds it is to be delivered again; null if it is done
 */
export async function runBackfills(rt: Runtime, messages: readonly BackfillMessage[]): Promise<(number | null)[]> {
  const until = Date.now() + LOOK_WITHIN_MS
  const waits: (number | null)[] = []
  for (const message of messages) {
    if (Date.now() >= until || rt.db.meter.statements >= LOOK_STATEMENTS) {
      waits.push(NEXT_PAGE_WAIT_S)
      continue
    }
    const { connection_id } = message
    const { failed } = await apart({ connection_id }, () => goOn(rt, message, until))
    waits.push(failed ? FAILED_WAIT_S : null)
  }
  return waits
}

/** Reads the next pages of a look. If this worker dies, the cron finds the look again, and it continues after the last page. */
async function goOn(rt: Runtime, message: BackfillMessage, until: number): Promise<void> {
  const taken = await takeLook(rt.db, message)
  if (!taken) return
  const free = { lease_token: null, lease_until: 0 }
  const held = heldBack(rt, taken)
  const key = held ? null : await ifOpened(openSourceKey(rt, taken.source as SourceKeyRow, 'background'))
  const list = key?.api.pastEvents
  if (!key || !list) {
    const unopened = { error: 'encryption_key_unavailable', due_at: Date.now() + FAILED_WAIT_MS } as const
    await keepLook(rt.db, taken, { ...free, ...(held ?? unopened) })
    return
  }
  let row = begun(rt, taken, list)
  let missed = 0
  const hasRoom = () => Date.now() < until && rt.db.meter.statements < LOOK_STATEMENTS
  for (let page = 0; page < PAGES_A_MESSAGE && row.looks_until !== null && hasRoom(); page++) {
    const step = await nextPage(rt, { key, list, row })
    missed += step.missed
    row = { ...row, ...step.changes }
    // Each page is kept by itself: a worker that dies repeats one at most.
    if (!(await keepLook(rt.db, taken, { ...whole(row), ...step.changes }))) return
    if (step.ends) break
  }
  const isLeft = row.looks_until !== null && row.error === null
  await keepLook(rt.db, taken, free)
  writeLog('info', 'backfill', { connection_id: row.connection_id, missed, error: row.error ?? undefined, isLeft })
  if (isLeft) await sendBackfills(rt.fetches, [message], NEXT_PAGE_WAIT_S)
}

const whole = ({ looks_from, looks_until, cursor, gaps }: BackfillRow) => ({ looks_from, looks_until, cursor, gaps })

/**
 * Why a look does not go on: null if nothing prevents it. Without `due_at`, the cron makes it due again once the connection is active and has a
 * key that works. As for imports, the vendor may want to be left alone, and deliveries may need the room that is left.
 */
function heldBack(
  { db }: Runtime,
  { status, source }: TakenLook,
): Pick<Partial<BackfillRow>, 'error' | 'due_at'> | null {
  const now = Date.now()
  if (status !== 'active' || !source) return { due_at: null }
  const { state, not_before } = source.key
  if (state !== 'ok') return { error: 'api_key_refused', due_at: null }
  if (isFilling(db)) return { error: 'database_filling', due_at: now + FILLING_WAIT_MS }
  if (not_before !== null && not_before > now) return { error: 'vendor_unavailable', due_at: not_before }
  return null
}

/**
 * A look that goes on, or a new one: until an hour ago, from where the last one ended. What the vendor no longer has is a gap, also if it has gone
 * while a look waited. What is older than our own records was not missed.
 */
function begun({ settings }: Runtime, { row, since }: TakenLook, list: PastEvents): BackfillRow {
  const now = Date.now()
  const horizon = now - list.kept_days * DAY + HOUR
  const { looks_from, looks_until, checked_until } = row
  if (looks_until !== null && looks_from !== null && looks_from >= horizon) return row
  const from = looks_from ?? checked_until ?? since
  const gap: Gap[] = from < horizon ? [{ from, to: horizon }] : []
  const recorded = now - settings.recordRetentionDays * DAY + HOUR
  // Lists of vendors may lag. What came before the connection belongs to another one.
  const again = Math.max(since, from - OVERLAP_MS, horizon, recorded)
  return {
    ...row,
    looks_from: again,
    looks_until: Math.max(again, now - SETTLED_MS),
    cursor: null,
    gaps: [...row.gaps, ...gap].slice(-MAX_GAPS),
  }
}

type Context = { key: SourceKey; list: PastEvents; row: BackfillRow }
/** What a page changes in the row, how many missed events it had, and whether the look waits, or is done. */
type Step = { changes: Partial<BackfillRow>; missed: number; ends: boolean }

async function nextPage(rt: Runtime, { key, list, row }: Context): Promise<Step> {
  const from = row.looks_from ?? 0
  const until = row.looks_until ?? 0
  const answer = await askFor(key, list, { from, until, after: row.cursor })
  const page = answer?.outcome === 'ok' && answer.body ? list.page(answer.body) : null
  if (!page) return refused(rt, key, row, answer)
  const timed = page.objects.filter(isObject).map((event) => ({ event, id: list.idOf(event), at: list.timeOf(event) }))
  const own = timed.filter(
    (one): one is { event: Json; id: string; at: number } =>
      one.id !== null && one.at !== null && one.at >= from && one.at < until,
  )
  const { recorded: missed, areAll } = await recordMissed(rt, key, own)
  const now = Date.now()
  const counted = { missed: missed > 0 ? addedTo(row.missed, missed, now) : row.missed, error: null }
  // The connection was changed meanwhile: the page is read again.
  if (!areAll)
    return { changes: { ...counted, due_at: now + FAILED_WAIT_MS, error: 'vendor_unavailable' }, missed, ends: true }
  const last = timed.at(-1)
  const isOver = !page.more || !last?.id || (last.at !== null && last.at < from)
  if (!isOver) return { changes: { ...counted, cursor: last.id, due_at: now + FAILED_WAIT_MS }, missed, ends: false }
  const done = { checked_until: until, looks_from: null, looks_until: null, cursor: null, due_at: now + LOOK_EVERY_MS }
  return { changes: { ...counted, ...done }, missed, ends: true }
}

/** Asks for a page. If its events are too large together, for the first of them alone. @returns null if the vendor did not answer in time */
async function askFor(
  key: SourceKey,
  list: PastEvents,
  page: { from: number; until: number; after: string | null },
  limit = list.most,
): Promise<VendorAnswer | null> {
  const query = list.query({ ...page, types: vendorOf(key.vendor)?.endpoints?.needed ?? [], limit })
  try {
    return await fetchVendor(key.api, key.secret, { pattern: list.pattern, query }, { turn: key.turn })
  } catch (error) {
    if (error instanceof VendorCallError && error.rule === 'size' && limit > 1) return askFor(key, list, page, 1)
    if (error instanceof VendorCallError) return null // It is in the log.
    throw error
  }
}

/** What happens to a look when the vendor did not send the page. */
async function refused(rt: Runtime, key: SourceKey, row: BackfillRow, answer: VendorAnswer | null): Promise<Step> {
  const now = Date.now()
  const step = (error: BackfillError, wait: number | null, more: Partial<BackfillRow> = {}): Step => ({
    changes: { ...more, error, due_at: wait === null ? null : now + wait },
    missed: 0,
    ends: true,
  })
  switch (answer?.outcome) {
    case 'key_refused':
      await markRefused(rt.db, key)
      return step('api_key_refused', null)
    case 'permission_missing':
      return step('permission_missing', REFUSED_WAIT_MS)
    case 'other':
    case 'gone':
      // The event after which the page begins may be too old by now: then the look begins anew.
      if (row.cursor !== null) return step('vendor_unavailable', FAILED_WAIT_MS, { cursor: null })
      return step('vendor_refused', REFUSED_WAIT_MS)
    default:
      return step('vendor_unavailable', Math.max(FAILED_WAIT_MS, (answer?.retry_after_s ?? 0) * 1000))
  }
}

/** The numbers of missed events by day, with today's number increased. Days that are too old are left out. */
function addedTo(missed: Record<string, number>, n: number, now: number): Record<string, number> {
  const today = isoDay(now)
  const first = isoDay(now - (MISSED_DAYS - 1) * DAY)
  const kept = Object.entries(missed).filter(([day]) => day >= first)
  return { ...Object.fromEntries(kept), [today]: (missed[today] ?? 0) + n }
}
