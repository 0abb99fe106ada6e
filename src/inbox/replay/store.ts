import { sql } from 'drizzle-orm'
import { audit, type Change } from '../../audit/store'
import type { Db } from '../../db/client'
import { old } from '../../db/old'
import { Fault } from '../../lib/fault'
import { FINAL_STATUSES } from '../lifecycle'
import { events, replays, totals } from '../schema'
import { FIRST_DUE_MS } from '../upkeep/limits'

const finalList = sql.raw(FINAL_STATUSES.map((status) => `'${status}'`).join(','))

/** What processing starts from is still there: without it, a run could only end in failure. */
const kept = (table: string) =>
  sql.raw(`EXISTS (SELECT 1 FROM payloads p WHERE p.project_id = ${table}.project_id AND p.id = ${table}.payload_id)`)

/** `opened`: whether this call opened the event again; false where a run was coming anyway. */
export type Replayed = { opened: boolean; replay_id: string | null }

/**
 * Opens a final event again. One that is open already has a run coming: then nothing changes, but that a retry which
 * waits is due now.
 *
 * @returns null where the project has no such event
 * @throws {Fault} `payload_gone`
 */
export async function reopen(
  db: Db,
  projectId: string,
  eventId: string,
  replayId: string,
  change: Change,
): Promise<Replayed | null> {
  const { now } = change
  const one = sql`project_id = ${projectId} AND id = ${eventId}`
  const final = sql`${one} AND status IN (${finalList}) AND ${kept('events')}`
  const [, , , opened, , found] = await old(db).batch([
    sql`UPDATE ${events} SET due_at = ${now}, next_attempt_at = ${now} WHERE ${one} AND status = 'retrying'`,
    // The total moves and the replay is noted before the event does, by the condition that lets it.
    sql`UPDATE ${totals} SET n = n - 1
      WHERE project_id = ${projectId} AND status = (SELECT status FROM ${events} WHERE ${final})`,
    sql`INSERT INTO ${replays} (project_id, id, actor, event_id, queued)
      SELECT project_id, ${replayId}, ${change.actor.id}, id, 1 FROM ${events} WHERE ${final}`,
    sql<{ id: string }>`UPDATE ${events} SET status = 'queued', due_at = ${now + FIRST_DUE_MS}, tries = 0,
      replay_id = ${replayId} WHERE ${final} RETURNING id`,
    audit({ project_id: projectId, action: 'event.replayed', object_type: 'event', object_id: eventId }, change),
    sql<{
      replay_id: string | null
      open: number
    }>`SELECT replay_id, due_at IS NOT NULL AS open FROM ${events} WHERE ${one}`,
  ])
  const row = found.rows[0]
  if (!row) return null
  if (row.open === 0) {
    throw new Fault('payload_gone', 'Its payload is past its retention: what was decoded of it stays as it is.')
  }
  return { opened: opened.rows.length > 0, replay_id: row.replay_id }
}

/**
 * Opens many final events again, as one replay.
 *
 * @returns the ids it opened; the others were open already, or their payloads are past their retention
 */
export async function reopenMany(
  db: Db,
  projectId: string,
  ids: readonly string[],
  replayId: string,
  filter: string,
  change: Change,
): Promise<string[]> {
  const { now } = change
  const list = JSON.stringify(ids)
  const finalOf = (table: string) => sql`${sql.raw(table)}.project_id = ${projectId}
    AND ${sql.raw(table)}.id IN (SELECT value FROM json_each(${list})) AND ${sql.raw(table)}.status IN (${finalList}) AND ${kept(table)}`
  const final = finalOf('events')
  const [, , opened] = await old(db).batch([
    sql`UPDATE ${totals} SET n = n - (SELECT count(*) FROM ${events} e WHERE e.status = totals.status AND ${finalOf('e')})
      WHERE project_id = ${projectId}`,
    sql`INSERT INTO ${replays} (project_id, id, actor, filter, queued)
      SELECT ${projectId}, ${replayId}, ${change.actor.id}, ${filter}, count(*) FROM ${events} WHERE ${final} HAVING count(*) > 0`,
    sql<{ id: string }>`UPDATE ${events} SET status = 'queued', due_at = ${now + FIRST_DUE_MS}, tries = 0,
      replay_id = ${replayId} WHERE ${final} RETURNING id`,
    audit(
      {
        project_id: projectId,
        action: 'events.replayed',
        object_type: 'replay',
        object_id: replayId,
        details: { filter, matched: ids.length },
      },
      change,
    ),
  ])
  return opened.rows.map(({ id }) => id)
}

type ReplayRow = typeof replays.$inferSelect & { open: number }

/** A replay with how many of its events are still open. */
export function findReplay(db: Db, projectId: string, id: string): Promise<ReplayRow | null> {
  return old(db).first(sql<ReplayRow>`SELECT r.*, (SELECT count(*) FROM ${events} e INDEXED BY events_open
      WHERE e.project_id = r.project_id AND e.due_at IS NOT NULL AND e.replay_id = r.id) AS open
    FROM ${replays} r WHERE r.project_id = ${projectId} AND r.id = ${id}`)
}
