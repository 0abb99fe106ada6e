import { and, eq, getTableColumns, gt, isNotNull, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, type Query, raw } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { attempts, events } from './schema'

/*
 * The attempts at processing an event. If the first one succeeded, and was caused by the delivery's own message, the event itself
 * says everything about it. Then it has no row until the event is replayed. All other attempts are rows.
 */

export type AttemptRow = typeof attempts.$inferSelect

/** The first attempt of a row of `events` that has `started_at`, as a row of `attempts`. It is right until the event is replayed. */
const ofEvent = {
  event_id: events.id,
  number: sql`1`,
  trigger: sql`'ingest'`,
  actor: sql`NULL`,
  started_at: events.started_at,
  finished_at: events.processed_at,
  outcome: events.status,
  error: sql`NULL`,
}

/**
 * Writes the first attempts that have no row, of events that are about to be reopened. It must come before the statement that reopens
 * them. If a restored backup has an event that was replayed during the backup, the event's status says nothing about its first attempt.
 * Its effects then tell whether it was ignored.
 */
export function keepFirstAttempts(db: Db, which: SQL | undefined): Query {
  const outcome = sql`CASE WHEN ${events.status} IN ('processed', 'ignored') THEN ${events.status}
    WHEN json_array_length(${events.summary}, '$.effects') > 0 AND ${events.summary}->>'$.effects[0].result' <> 'gone' THEN 'processed' ELSE 'ignored' END`
  const from = sql`FROM ${events} WHERE ${and(which, isNotNull(events.started_at))} ON CONFLICT DO NOTHING`
  return insertFrom(db, attempts, { ...ofEvent, outcome }, from)
}

type Asked = { after?: number; order: 'asc' | 'desc'; limit: number }

/**
 * Reads the attempts at processing an event; no rows if the event belongs to another project.
 *
 * @param asked `after`: the number of an attempt; only later ones are read
 */
export function listAttempts(
  db: Db,
  projectId: string,
  eventId: string,
  { after = 0, order, limit }: Asked,
): Query<AttemptRow[]> {
  const a = alias(attempts, 'a')
  const ofProject = and(eq(events.project_id, projectId), eq(events.id, eventId))
  const first = eq(attempts.number, 1)
  const isOf = eq(attempts.event_id, eventId)
  const named = Object.entries(ofEvent).map(([name, value]) => sql`${value} AS ${sql.identifier(name)}`)
  const stored = Object.keys(ofEvent).map((name) => sql`${attempts[name as keyof typeof ofEvent]}`)
  const all = sql`SELECT ${sql.join(named, sql`, `)} FROM ${events} WHERE ${and(ofProject, isNotNull(events.started_at))}
      AND NOT EXISTS (SELECT 1 FROM ${attempts} WHERE ${and(isOf, first)})
    UNION ALL SELECT ${sql.join(stored, sql`, `)}
      FROM (SELECT * FROM ${attempts} WHERE ${and(isOf, gt(attempts.number, after))}
        ORDER BY ${attempts.number} ${sql.raw(order)} LIMIT ${limit}) ${attempts}
      WHERE EXISTS (SELECT 1 FROM ${events} WHERE ${ofProject})`
  return raw(
    db,
    getTableColumns(a),
    (fields) => sql`SELECT ${fields} FROM (${all}) ${a} WHERE ${a.number} > ${after}
      ORDER BY ${a.number} ${sql.raw(order)} LIMIT ${limit}`,
  )
}
