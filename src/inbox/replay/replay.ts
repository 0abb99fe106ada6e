import * as z from 'zod'
import type { Change } from '../../audit/store'
import type { Db } from '../../db/client'
import type { Runtime } from '../../env'
import { count, timestamp } from '../../http/fields'
import { writeLog } from '../../http/log'
import { idTime, newId } from '../../lib/ids'
import { iso } from '../../lib/time'
import { sendEvents } from '../messages'
import { searchFields, toFilters } from '../search/filters'
import { search } from '../search/search'
import { findReplay, type Replayed, reopen, reopenMany } from './store'

/** Events a replay by filter opens at most, and how many of them go to the Queue a second. */
const MAX_REPLAYED = 1000
const PER_SECOND = 100
/** Bounded searches that one request makes: a filter without an index may need several to find its events. */
const MAX_SEARCHES = 10

export const BulkReplayBody = z
  .strictObject({
    filter: z.strictObject(searchFields).describe("The search's filters."),
    limit: z.int().min(1).max(MAX_REPLAYED).default(MAX_REPLAYED),
    dry_run: z.boolean().default(false).describe('Counts what matches, and changes nothing.'),
  })
  .meta({ id: 'BulkReplayRequest' })

export const BulkReplay = z
  .object({
    replay_id: z.string().nullable().describe('Null for a dry run, and where nothing was opened again.'),
    matched: count.describe('Events found, up to `limit`.'),
    queued: count.describe('Those opened again; the others were open already, or their payload is no longer kept.'),
    has_more: z.boolean().describe('Whether there may be more: narrow the filter, or replay again when this is done.'),
  })
  .meta({ id: 'BulkReplay' })

export const ReplayProgress = z
  .object({
    id: z.string(),
    requested_at: timestamp,
    requested_by: z.string(),
    event_id: z.string().nullable(),
    filter: z.record(z.string(), z.unknown()).nullable(),
    queued: count,
    open: count.describe('Those still to be processed: 0 when it is done.'),
  })
  .meta({ id: 'ReplayProgress' })

/** Asks for an event to be processed again. @returns null where the project has no such event
 * @throws {Fault} `payload_gone` */
export async function requestReplay(
  rt: Runtime,
  projectId: string,
  eventId: string,
  change: Change,
): Promise<Replayed | null> {
  const replayed = await reopen(rt.db, projectId, eventId, newId('rpl', rt.now), change)
  if (!replayed) return null
  // Sent for a run that was coming anyway too: a retry that waited is due now. A claim makes twice once.
  enqueue(rt, projectId, [eventId])
  return replayed
}

/** Asks for all events that a filter matches to be processed again. */
export async function requestBulkReplay(
  rt: Runtime,
  projectId: string,
  { filter, limit, dry_run }: z.infer<typeof BulkReplayBody>,
  change: Change,
): Promise<z.infer<typeof BulkReplay>> {
  const filters = toFilters(filter)
  const ids: string[] = []
  let resume: string | null = null
  for (let round = 0; round < MAX_SEARCHES && ids.length <= limit; round++) {
    const found = await search(rt.db, projectId, filters, resume, limit + 1 - ids.length)
    ids.push(...found.ids)
    resume = found.resume
    if (!found.truncated) break
  }
  const has_more = ids.length > limit || resume !== null
  const matched = ids.slice(0, limit)
  if (dry_run || matched.length === 0) return { replay_id: null, matched: matched.length, queued: 0, has_more }
  const replayId = newId('rpl', rt.now)
  const opened = await reopenMany(rt.db, projectId, matched, replayId, JSON.stringify(filter), change)
  enqueue(rt, projectId, opened)
  return { replay_id: opened.length > 0 ? replayId : null, matched: matched.length, queued: opened.length, has_more }
}

/** How far a replay has come. @returns null where the project has no such replay */
export async function readReplay(
  db: Db,
  projectId: string,
  id: string,
): Promise<z.infer<typeof ReplayProgress> | null> {
  const row = await findReplay(db, projectId, id)
  if (!row) return null
  const { actor, event_id, filter, queued, open } = row
  return {
    id,
    requested_at: iso(idTime(id)),
    requested_by: actor,
    event_id,
    filter: filter === null ? null : (JSON.parse(filter) as Record<string, unknown>),
    queued,
    open,
  }
}

/** Puts events on their way, a hundred a second. What the Queue does not take, the sweep sends. */
function enqueue(rt: Runtime, projectId: string, ids: readonly string[]): void {
  const keys = ids.map((event_id) => ({ project_id: projectId, event_id }))
  rt.waitUntil(
    sendEvents(rt.events, keys, { perSecond: PER_SECOND }).catch((error) =>
      writeLog('warn', 'queue_send_failed', { events: keys.length, error: String(error) }),
    ),
  )
}
