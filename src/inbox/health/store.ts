import { type SQL, sql } from 'drizzle-orm'
import { ambiguousOf } from '../../billing/store'
import { batch, type Db } from '../../db/client'
import { old } from '../../db/old'
import { connections } from '../connections/schema'
import type { Status } from '../lifecycle'
import { events, minutes, totals } from '../schema'
import { state } from '../upkeep/schema'

export type MinuteRow = typeof minutes.$inferSelect
export type OpenCount = { status: Status; n: number; oldest: string; expired: number }
export type Snapshot = {
  finals: { status: Status; n: number }[]
  open: OpenCount[]
  minutes: MinuteRow[]
  connections: {
    id: string
    name: string
    vendor: string
    status: string
    secrets: number
    last_event_id: string | null
  }[]
  last_sweep_at: number | null
  ambiguous: number
}

/** Open events a snapshot looks at; with more, its counts of open ones are a lower bound. */
export const MAX_OPEN_COUNTED = 10_000

/** What health is made of, in one round trip. */
export async function readSnapshot(db: Db, projectId: string, sinceMinute: number, now: number): Promise<Snapshot> {
  const plain = <Row>(statement: SQL<Row>) => old(db).query(statement)
  const found = await batch(db, {
    finals: plain(sql<{ status: Status; n: number }>`SELECT status, n FROM ${totals} WHERE project_id = ${projectId}`),
    open: plain(sql<OpenCount>`SELECT status, count(*) AS n, min(id) AS oldest,
        sum(status = 'processing' AND lease_until <= ${now}) AS expired
      FROM (SELECT status, id, lease_until FROM ${events} INDEXED BY events_open
        WHERE project_id = ${projectId} AND due_at IS NOT NULL LIMIT ${MAX_OPEN_COUNTED}) GROUP BY status`),
    minutes: plain(
      sql<MinuteRow>`SELECT * FROM ${minutes} WHERE project_id = ${projectId} AND minute >= ${sinceMinute}`,
    ),
    connections: plain(sql<
      Snapshot['connections'][number]
    >`SELECT c.id, c.name, c.vendor, c.status, json_array_length(c.secrets) AS secrets,
        (SELECT max(e.id) FROM ${events} e INDEXED BY events_connection WHERE e.connection_id = c.id) AS last_event_id
      FROM ${connections} c WHERE c.project_id = ${projectId} AND c.deleted_at IS NULL ORDER BY c.id`),
    swept: plain(sql<{ value: number }>`SELECT value FROM ${state} WHERE name = 'last_sweep_at'`),
    ambiguous: ambiguousOf(db, projectId, MAX_OPEN_COUNTED),
  })
  return {
    finals: found.finals,
    open: found.open,
    minutes: found.minutes,
    connections: found.connections,
    last_sweep_at: found.swept[0]?.value ?? null,
    ambiguous: found.ambiguous[0]?.n ?? 0,
  }
}

/** Whether the connection is one of the project's; a deleted one still is. */
export async function hasConnection(db: Db, projectId: string, id: string): Promise<boolean> {
  const own = sql<{ id: string }>`SELECT id FROM ${connections} WHERE id = ${id} AND project_id = ${projectId}`
  return (await old(db).first(own)) !== null
}

/** Rollups of a range of minutes (from inclusive, to exclusive), of one connection or of all. */
export function readMinutes(
  db: Db,
  projectId: string,
  from: number,
  to: number,
  connectionId: string | null,
): Promise<MinuteRow[]> {
  if (connectionId !== null) {
    // The key is (project, minute, connection): each minute is looked up by itself, or one connection of many would
    // cost the rows of all.
    return old(db).all(sql<MinuteRow>`WITH RECURSIVE t(minute) AS (
        SELECT CAST(${from} AS INTEGER) UNION ALL SELECT minute + 1 FROM t WHERE minute + 1 < ${to})
      SELECT m.* FROM t CROSS JOIN ${minutes} m ON m.project_id = ${projectId} AND m.minute = t.minute
        AND m.connection_id = ${connectionId}`)
  }
  return old(db).all(sql<MinuteRow>`SELECT * FROM ${minutes}
    WHERE project_id = ${projectId} AND minute >= ${from} AND minute < ${to} ORDER BY minute`)
}
