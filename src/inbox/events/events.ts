import { and, asc, type Column, desc, eq, gt, inArray, lt, type SQL, sql } from 'drizzle-orm'
import { consumerOf } from '../../consumers/links'
import type { Db, Query, Reader } from '../../db/client'
import { columnsOf, valuesOf } from '../../db/sql'
import { idRange } from '../../lib/ids'
import { settingsFor } from '../../tenancy/project'
import { type Connection, readingOf } from '../connections/connection'
import { connections } from '../connections/schema'
import { isFetchedApart } from '../fetched-apart'
import { onHold, statusShown } from '../held'
import type { ShownStatus } from '../lifecycle'
import type { Body } from '../payload'
import { bodyColumns, isJoined, payloadBytes, payloadHeaders, textColumns, withPayload } from '../payload'
import { events } from '../schema'
import { isDelivered, PREFIX_OF, type Source } from '../sources'
import { type DecodedSummary, summaryIn } from '../summary'
import { MAX_PAGE_BYTES } from './limits'

/** How events are read: without their payloads, or with as many of them as have so many bytes together. */
export type View = 'summary' | { most: number }

/** Its payload is not there in the summary view, after its retention, and for a row that does not fit on the page. */
export type EventRow = Omit<Pick<typeof events.$inferSelect, keyof typeof shown>, 'status' | 'summary'> &
  Body & {
    status: ShownStatus
    summary: DecodedSummary | null
    vendor: string
    livemode: boolean
    connection_name: string
    /** Null unless the connection was deleted. */
    connection_deleted_at: number | null
    connection_status: Connection['status']
    /** Also null until the event is processed. */
    consumer_id: string | null
    /** Total bytes of the page's payloads up to and including this row. */
    running: number
  }

const shown = {
  project_id: events.project_id,
  id: events.id,
  connection_id: events.connection_id,
  vendor_event_id: events.vendor_event_id,
  event_type: events.event_type,
  occurred_at: events.occurred_at,
  status: sql<ShownStatus>`${statusShown(events)}`.as('status'),
  // A held event has no next attempt yet: its release decides when it is due.
  next_attempt_at: sql<number | null>`CASE WHEN ${onHold(events)} THEN NULL ELSE ${events.next_attempt_at} END`.as(
    'next_attempt_at',
  ),
  attempts: events.attempts,
  deliveries: events.deliveries,
  last_delivered_at: events.last_delivered_at,
  differing: events.differing,
  last_differing_at: events.last_differing_at,
  processed_at: events.processed_at,
  last_error: events.last_error,
  last_error_code: events.last_error_code,
  replay_id: events.replay_id,
  summary: summaryIn(events).as('summary'),
}

/** Columns of the event's connection, and the consumer of the event's customer. */
const ofConnection = {
  vendor: connections.vendor,
  livemode: connections.livemode,
  connection_name: connections.name,
  connection_deleted_at: connections.deleted_at,
  connection_status: sql<Connection['status']>`${connections.status}`.as('connection_status'),
  consumer_id: sql<string | null>`${consumerOfEvent(events, sql`${connections.vendor}`)}`.as('consumer_id'),
}

/** The consumer that an event's customer is linked to, as an expression. @param vendor of the event's connection */
export function consumerOfEvent({ project_id, summary }: Record<'project_id' | 'summary', Column>, vendor: SQL): SQL {
  return consumerOf(sql`${project_id}`, { vendor, customer: sql`${summary}->>'$.customer'` })
}

/** Reads the project's events of a source, newest first, starting before the event `before`. */
export function listEvents(
  db: Db,
  projectId: string,
  view: View,
  { source = 'delivery', before, limit }: { source?: Source; before: string | null; limit: number },
): Query<EventRow[]> {
  const { above, below } = idRange(PREFIX_OF[source], null, null)
  const where = and(eq(events.project_id, projectId), gt(events.id, above), lt(events.id, before ?? below))
  return selectEvents(db, view, { where, order: 'desc', limit })
}

/** Reads the events with these ids, ordered by time of receipt. */
export function readEvents(
  db: Db,
  projectId: string,
  view: View,
  { ids, order }: { ids: readonly string[]; order: 'asc' | 'desc' },
): Query<EventRow[]> {
  const where = and(eq(events.project_id, projectId), inArray(events.id, valuesOf(ids)))
  return selectEvents(db, view, { where, order, limit: ids.length })
}

/** Reads one event of the project. */
export function findEvent(db: Reader, projectId: string, view: View, id: string): Query<EventRow[]> {
  return selectEvents(db, view, { where: ofProject(projectId, id), order: 'desc', limit: 1 })
}

/** Reads the newest event of a connection of the project. */
export function lastEventOf(db: Db, projectId: string, connectionId: string): Query<EventRow[]> {
  const newest = sql`(SELECT max(${events.id}) FROM ${events} INDEXED BY events_connection
    WHERE ${and(eq(events.connection_id, connectionId), isDelivered(events.id))})`
  return selectEvents(db, 'summary', {
    where: and(eq(events.project_id, projectId), sql`${events.id} = ${newest}`),
    order: 'desc',
    limit: 1,
  })
}

/** Reads whether the project has this event: a row if it does. */
export function eventExists(db: Db, projectId: string, id: string) {
  return db.select({ id: events.id }).from(events).where(ofProject(projectId, id))
}

/** Reads what processing the event starts from. */
export function findRecorded(db: Reader, projectId: string, id: string) {
  const columns = {
    id: events.id,
    vendor_event_id: events.vendor_event_id,
    ...readingOf,
    /** Whether the payload is there: 0 if it is past its retention. */
    kept: sql<0 | 1>`${isJoined}`.as('kept'),
    ...textColumns,
    headers: payloadHeaders.as('headers'),
    settings: settingsFor(events.project_id),
    /** Whether what the event names would be fetched. */
    apart: sql<boolean>`${isFetchedApart(events)}`.mapWith(Boolean).as('apart'),
    summary: summaryIn(events).as('summary'),
  }
  return withPayload(db.select(columns).from(events).crossJoin(connections).$dynamic(), events).where(
    and(ofProject(projectId, id), eq(connections.id, events.connection_id)),
  )
}

/** Reads what is kept of a delivery beside its bytes: the size of the payload, null if it is gone, and the headers. */
export function findKept(db: Reader, projectId: string, id: string) {
  const columns = { bytes: payloadBytes.as('bytes'), headers: payloadHeaders.as('headers') }
  return withPayload(db.select(columns).from(events).$dynamic(), events).where(ofProject(projectId, id))
}

/** How many rows fit on one page by the size of their payloads, however many were read. The first row always fits. */
export function fitting(rows: readonly EventRow[]): number {
  const over = rows.findIndex((row, index) => index > 0 && row.running > MAX_PAGE_BYTES)
  return over < 0 ? rows.length : over
}

/** How many bytes the payloads of the rows that fit on one page have together. */
export function sizeOf(rows: readonly EventRow[]): number {
  return rows.slice(0, fitting(rows)).at(-1)?.running ?? 0
}

type Page = { where: SQL | undefined; order: 'asc' | 'desc'; limit: number }

function selectEvents(db: Reader, view: View, page: Page): Query<EventRow[]> {
  return view === 'summary' ? withoutPayloads(db, page) : withPayloads(db, page, view.most)
}

function withoutPayloads(db: Reader, { where, order, limit }: Page) {
  const none = (name: string) => sql<null>`NULL`.as(name)
  const body = { text: none('text'), hex: none('hex'), more_hex: none('more_hex'), encoding: none('encoding') }
  const running = sql<number>`0`.as('running')
  return db
    .select({ ...shown, ...ofConnection, ...body, running })
    .from(events)
    .crossJoin(connections)
    .where(and(where, eq(connections.id, events.connection_id)))
    .orderBy(sorted(events.id, order))
    .limit(limit)
}

/** Payloads beyond `most` bytes are neither sent nor read: SQLite sums up their sizes along the page. */
function withPayloads(db: Reader, { where, order, limit }: Page, most: number) {
  const columns = {
    ...shown,
    ...ofConnection,
    payload_id: events.payload_id,
    bytes: sql<number>`coalesce(${payloadBytes}, 0)`.as('bytes'),
  }
  const page = withPayload(db.select(columns).from(events).crossJoin(connections).$dynamic(), events)
    .where(and(where, eq(connections.id, events.connection_id)))
    .orderBy(sorted(events.id, order))
    .limit(limit)
    .as('page')
  const sum = sql<number>`sum(${page.bytes}) OVER (ORDER BY ${sorted(page.id, order)} ROWS UNBOUNDED PRECEDING)`
  const summed = db
    .select({ ...columnsOf(page), running: sum.as('running') })
    .from(page)
    .as('summed')
  const { bytes: _, payload_id, ...fields } = columnsOf(summed)
  const fits = sql`${summed.running} <= ${most}`
  const key = { project_id: summed.project_id, payload_id }
  return withPayload(
    db
      .select({ ...fields, ...bodyColumns(fits) })
      .from(summed)
      .$dynamic(),
    key,
  ).orderBy(sorted(summed.id, order))
}

const sorted = (id: Column, order: 'asc' | 'desc') => (order === 'asc' ? asc(id) : desc(id))

function ofProject(projectId: string, id: string) {
  return and(eq(events.project_id, projectId), eq(events.id, id))
}
