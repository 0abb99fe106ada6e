import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { old } from '../../db/old'
import { connections } from '../connections/schema'
import { attempts, events, payloads } from '../schema'

export type EventRow = Omit<
  typeof events.$inferSelect,
  'lease_token' | 'lease_until' | 'due_at' | 'tries' | 'payload_id'
> & {
  vendor: string
  livemode: number
  /** Text, or the bytes of a BLOB as D1 gives them; null where the payload is past its retention, or was not asked for. */
  body: string | number[] | null
  /** Bytes of the payloads of the page so far, this row's included. */
  running: number
}
export type AttemptRow = typeof attempts.$inferSelect

/** A page stops before its payloads pass this many bytes. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024

const EVENT_COLUMNS = `project_id, id, connection_id, vendor_event_id, event_type, occurred_at, status, next_attempt_at,
  attempts, deliveries, last_delivered_at, processed_at, last_error, replay_id, summary`
const fromEvent = sql.raw(EVENT_COLUMNS.replaceAll(/(\w+)/g, 'e.$1'))
const outer = sql.raw(`${EVENT_COLUMNS}, vendor, livemode, running`)

/** The project's events, newest first, from before the event `before`. Bodies past {@link MAX_PAGE_BYTES} are left out. */
export function listEvents(
  db: Db,
  projectId: string,
  before: string | null,
  limit: number,
  withBody: boolean,
): Promise<EventRow[]> {
  const page = sql`SELECT * FROM ${events} WHERE project_id = ${projectId} AND id < ${before ?? '~'} ORDER BY id DESC LIMIT ${limit}`
  return old(db).all(rowsOf(page, withBody, sql`ORDER BY e.id DESC`))
}

/** The events of these ids, in this order of time. */
export function readEvents(
  db: Db,
  projectId: string,
  ids: readonly string[],
  order: 'asc' | 'desc',
  withBody: boolean,
): Promise<EventRow[]> {
  const page = sql`SELECT * FROM ${events} WHERE project_id = ${projectId}
    AND id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`
  return old(db).all(rowsOf(page, withBody, sql`ORDER BY e.id ${sql.raw(order)}`))
}

/** One event of the project with its payload, or null. */
export function findEvent(db: Db, projectId: string, id: string): Promise<EventRow | null> {
  return old(db).first(rowsOf(sql`SELECT * FROM ${events} WHERE project_id = ${projectId} AND id = ${id}`, true, sql``))
}

/** What processing an event would start from. */
export type RecordedRow = Pick<typeof events.$inferSelect, 'id' | 'vendor_event_id'> & {
  vendor: string
  body: string | number[] | null
  headers: string | null
}

/** An event as its processing needs it, or null. */
export function findRecorded(db: Db, projectId: string, id: string): Promise<RecordedRow | null> {
  return old(db).first(sql<RecordedRow>`SELECT e.id, e.vendor_event_id, c.vendor, p.body, p.headers
    FROM ${events} e CROSS JOIN ${connections} c ON c.id = e.connection_id
      LEFT JOIN ${payloads} p ON p.project_id = e.project_id AND p.id = e.payload_id
    WHERE e.project_id = ${projectId} AND e.id = ${id}`)
}

/** The tries at processing an event, first one first. Asks for the event's project, so that no other's are shown. */
export function listAttempts(
  db: Db,
  projectId: string,
  eventId: string,
  after: number,
  limit: number,
): Promise<AttemptRow[]> {
  return old(db).all(sql<AttemptRow>`SELECT a.* FROM ${attempts} a WHERE a.event_id = ${eventId} AND a.number > ${after}
    AND EXISTS (SELECT 1 FROM ${events} WHERE project_id = ${projectId} AND id = ${eventId})
    ORDER BY a.number LIMIT ${limit}`)
}

function rowsOf(page: SQL, withBody: boolean, order: SQL) {
  if (!withBody) {
    return sql<EventRow>`SELECT ${fromEvent}, c.vendor, c.livemode, NULL AS body, 0 AS running
      FROM (${page}) e CROSS JOIN ${connections} c ON c.id = e.connection_id ${order}`
  }
  return sql<EventRow>`SELECT ${outer}, CASE WHEN running <= ${MAX_PAGE_BYTES} OR running = bytes THEN raw END AS body FROM (
      SELECT ${fromEvent}, c.vendor, c.livemode, p.body AS raw, octet_length(p.body) AS bytes,
        sum(coalesce(octet_length(p.body), 0)) OVER (${order} ROWS UNBOUNDED PRECEDING) AS running
      FROM (${page}) e CROSS JOIN ${connections} c ON c.id = e.connection_id
        LEFT JOIN ${payloads} p ON p.project_id = e.project_id AND p.id = e.payload_id) e ${order}`
}
