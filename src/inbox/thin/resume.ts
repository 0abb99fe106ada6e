import { and, desc, eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Change } from '../../audit/store'
import { batch, type Db, raw } from '../../db/client'
import { writeLog } from '../../http/log'
import { Fault } from '../../lib/fault'
import { newId } from '../../lib/ids'
import { notOnHold } from '../held'
import { reopenMany } from '../replay/replays'
import { events } from '../schema'
import { isDelivered } from '../sources'
import { MAX_FAILED_LOOKED_AT, MAX_RESUMED } from './limits'

const i = alias(events, 'i')

/**
 * Opens the events of a connection again that failed because the vendor refused its API key, and makes those due that wait for that reason. The
 * cron sends them. While the connection is paused, its held events stay held, and failed ones are not reopened.
 *
 * @returns how many there are
 */
export async function resumeRefused(
  db: Db,
  { project_id, connection_id }: { project_id: string; connection_id: string },
  change: Change,
): Promise<number> {
  const { now } = change
  const isRefused = (row: typeof i) =>
    and(
      eq(row.project_id, project_id),
      eq(row.connection_id, connection_id),
      eq(row.last_error_code, 'vendor_key_refused'),
    )
  // Open and failed events have indexes of their own. A project may have very many failed ones, so only the newest are looked at.
  const open = sql`SELECT ${i.id} FROM ${events} ${i} INDEXED BY events_open
    WHERE ${isRefused(i)} AND ${notOnHold(i)} AND ${i.status} = 'retrying'`
  const isFailed = and(
    eq(i.project_id, project_id),
    sql`${i.due_at} IS NULL AND ${i.status} <> 'processed' AND ${i.status} = 'failed'`,
    isDelivered(i.id),
  )
  const { waiting, failed } = await batch(db, {
    waiting: db
      .update(events)
      .set({ due_at: now, next_attempt_at: now })
      .where(and(eq(events.project_id, project_id), sql`${events.id} IN (${open})`))
      .returning({ id: events.id }),
    failed: raw(
      db,
      { id: i.id },
      (fields) => sql`SELECT ${fields} FROM (
        SELECT * FROM ${events} ${i} INDEXED BY events_ended
          WHERE ${isFailed} ORDER BY ${desc(i.id)} LIMIT ${MAX_FAILED_LOOKED_AT}) ${i}
        WHERE ${isRefused(i)} LIMIT ${MAX_RESUMED}`,
    ),
  })
  const ids = failed.map(({ id }) => id)
  return waiting.length + (ids.length > 0 ? await reopenFailed(db, { project_id, connection_id, ids }, change) : 0)
}

/** As a bulk replay. If another one is running, or the day's budget is spent, the events stay failed: they can be replayed later. */
async function reopenFailed(
  db: Db,
  { project_id, connection_id, ids }: { project_id: string; connection_id: string; ids: readonly string[] },
  change: Change,
): Promise<number> {
  const filter = { connection_id, status: ['failed'], error: 'API key', order: 'desc' }
  const target = { project_id, replay_id: newId('rpl', change.now), event_ids: ids, filter }
  try {
    return (await reopenMany(db, target, change)).length
  } catch (error) {
    if (!(error instanceof Fault) || (error.fault !== 'replay_running' && error.fault !== 'rate_limited')) throw error
    writeLog('warn', 'refused_events_not_replayed', { connection_id, events: ids.length, error: error.fault })
    return 0
  }
}
