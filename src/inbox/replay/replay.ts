import type * as z from 'zod'
import type { Change } from '../../audit/store'
import { batch, type Db, run } from '../../db/client'
import type { Runtime } from '../../env'
import { paging } from '../../http/page'
import { newId } from '../../lib/ids'
import { bringBack } from '../archive/change'
import { findArchived } from '../archive/find'
import { readerOf } from '../archive/records'
import { findEvent, findKept } from '../events/events'
import { sendOrLeave } from '../messages'
import { toFilters } from '../search/filters'
import { search } from '../search/search'
import { MAX_SEARCHES, REPLAYED_PER_SECOND } from './limits'
import type { BulkReplay, BulkReplayBody } from './present'
import { connectionPaused, countReplayable, payloadGone, reopen, reopenMany, requireNoneRunning } from './replays'

/**
 * Processes an event again.
 *
 * @returns whether this call opened the event, and the event as it is now; null if the project has no such event
 * @throws {Fault} `payload_gone`, `connection_paused`, `delivered_again`
 */
export async function requestReplay(rt: Runtime, projectId: string, eventId: string, change: Change) {
  const target = { project_id: projectId, event_id: eventId, replay_id: newId('rpl', rt.now) }
  const again = () => reopen(rt.db, target, change)
  const replayed = (await again()) ?? ((await broughtBack(rt.db, projectId, eventId)) ? await again() : null)
  // Also sent if a run was on its way, because a waiting retry is now due. Claims make a second message harmless.
  if (replayed) enqueue(rt, projectId, [eventId])
  return replayed
}

/** Brings an event back from the archive, if it can be processed. @returns whether it is among the others now */
async function broughtBack(db: Db, projectId: string, id: string): Promise<boolean> {
  const found = await findArchived(db, projectId, id)
  if (found) {
    const reader = readerOf(db, [found.record])
    const { event, kept } = await batch(db, {
      event: findEvent(reader, projectId, 'summary', id),
      kept: findKept(reader, projectId, id),
    })
    if (event[0]?.connection_status === 'paused') throw connectionPaused()
    if ((kept[0]?.bytes ?? null) === null) throw payloadGone()
  }
  return bringBack(db, projectId, id)
}

/**
 * Processes the events that match a filter again, up to a limit. `next_cursor` continues after the last one that matched.
 *
 * @throws {Fault} `invalid_cursor`, `replay_running`, `rate_limited`
 */
export async function requestBulkReplay(
  rt: Runtime,
  projectId: string,
  { filter, limit, cursor, dry_run }: z.infer<typeof BulkReplayBody>,
  change: Change,
): Promise<z.infer<typeof BulkReplay>> {
  const filters = toFilters(filter)
  const list = paging('webhooks/replay', { ...filter, cursor, limit })
  // Before the searches, which cost much more.
  if (!dry_run) await requireNoneRunning(rt.db, projectId, rt.now)
  const ids: string[] = []
  let resume = list.before
  for (let round = 0; round < MAX_SEARCHES && ids.length <= limit; round++) {
    const found = await search(rt.db, projectId, filters, { after: resume, limit: limit + 1 - ids.length })
    ids.push(...found.ids)
    resume = found.resume
    if (resume === null) break
  }
  const event_ids = ids.slice(0, limit)
  const { data, ...more } = list.upTo(event_ids, ids.length > limit ? (event_ids.at(-1) ?? null) : resume)
  const matched = data.length
  if (matched === 0) return { replay_id: null, matched, queued: 0, ...more }
  if (dry_run) {
    const [found] = await run(rt.db, countReplayable(rt.db, projectId, event_ids))
    return { replay_id: null, matched, queued: found?.n ?? 0, ...more }
  }
  const replay_id = newId('rpl', rt.now)
  const opened = await reopenMany(
    rt.db,
    { project_id: projectId, replay_id, event_ids, filter, next_cursor: more.next_cursor },
    change,
  )
  enqueue(rt, projectId, opened)
  return { replay_id: opened.length > 0 ? replay_id : null, matched, queued: opened.length, ...more }
}

/** Sends events to the Queue at a steady rate. The sweep sends what the Queue refuses. */
function enqueue(rt: Runtime, projectId: string, ids: readonly string[]): void {
  const keys = ids.map((event_id) => ({ project_id: projectId, event_id }))
  rt.waitUntil(sendOrLeave(rt.events, keys, { perSecond: REPLAYED_PER_SECOND }))
}
