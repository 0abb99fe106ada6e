import { and, eq, inArray, sql } from 'drizzle-orm'
import { type Db, run } from '../db/client'
import { valuesOf } from '../db/sql'
import { type NumberedChange, numbered } from '../feed/read'
import { bodyColumns, bytesOf, isKept, payloadBytes, payloadHeaders, withPayload } from '../inbox/payload'
import { events } from '../inbox/schema'
import { withThin } from '../inbox/search/filters'
import { type Gets, getsOf } from './gets'
import type { Endpoint, FoundWork } from './work'

/** Of the events that a run may relay: which of them it sends, and how many bytes each has; null if its payload is no longer kept. */
export type Relayed = { gets: Gets; bytes: (eventId: string) => number | null }

type OfRelay = Pick<Endpoint, 'project_id' | 'types' | 'relay'>

/**
 * Reads which of the events of these changes a relay sends. Their payloads are not read yet. The events of one delivery share
 * its bytes, which are sent once, for the first of them.
 */
export async function readRelayed(
  db: Db,
  endpoint: OfRelay,
  { page, again, due, failed }: Pick<FoundWork, 'page' | 'again' | 'due' | 'failed'>,
): Promise<Relayed> {
  const isOutcome = getsOf(endpoint)
  const lists = [page, again].map((rows) => rows.flatMap(numbered).filter(isOutcome))
  // What was tried before is one that it sends.
  const tried = [...due, ...failed].flatMap(({ change }) => change?.item.id ?? [])
  const ids = lists.flatMap((list) => list.map(({ id }) => id))
  const known = await findEvents(db, endpoint.project_id, [...new Set([...ids, ...tried])])
  const wanted = new Set([...tried, ...lists.flatMap((list) => firstOfEach(endpoint, known, list))])
  return {
    gets: (change) => isOutcome(change) && wanted.has(change.id),
    bytes: (id) => known.get(id)?.bytes ?? null,
  }
}

type Known = Awaited<ReturnType<typeof findEvents>>

/** The ids of the events that a relay wants, without those that come in a delivery of another one before them. */
function firstOfEach({ relay }: OfRelay, known: Known, list: readonly NumberedChange[]): string[] {
  const deliveries = new Set<string>()
  return list.flatMap(({ id }) => {
    const event = known.get(id)
    // What has gone has no type and no connection that could be compared. That it is missing is told.
    if (!event) return [id]
    const { connection_id, event_type, payload_id } = event
    const isOf = relay?.connection_ids?.includes(connection_id) ?? true
    if (!isOf || !isOfType(event_type, relay?.event_types ?? null) || deliveries.has(payload_id)) return []
    deliveries.add(payload_id)
    return [id]
  })
}

function isOfType(type: string, words: readonly string[] | null): boolean {
  const all = words?.flatMap(withThin)
  return all?.some((one) => (one.endsWith('*') ? type.startsWith(one.slice(0, -1)) : type === one)) ?? true
}

async function findEvents(db: Db, projectId: string, ids: readonly string[]) {
  const { id, connection_id, event_type, payload_id, project_id } = events
  const columns = { id, connection_id, event_type, payload_id, bytes: payloadBytes.as('bytes') }
  const isOne = and(eq(project_id, projectId), inArray(id, valuesOf(ids)))
  const rows =
    ids.length > 0 ? await run(db, withPayload(db.select(columns).from(events).$dynamic(), events).where(isOne)) : []
  return new Map(rows.map((row) => [row.id, row]))
}

/** An event as its vendor sent it. `bytes`: null if they are no longer kept, or were erased with their consumer. */
export type Payload = {
  connection_id: string
  headers: Record<string, string>
  bytes: Uint8Array<ArrayBuffer> | null
}

/** Reads the payloads of these events, by their ids. An event that is no longer kept has none. */
export async function readPayloads(db: Db, projectId: string, ids: readonly string[]): Promise<Map<string, Payload>> {
  if (ids.length === 0) return new Map()
  const { id, connection_id, project_id } = events
  const columns = { id, connection_id, headers: payloadHeaders.as('headers'), ...bodyColumns(sql`1`) }
  const isOne = and(eq(project_id, projectId), inArray(id, valuesOf(ids)))
  const rows = await run(db, withPayload(db.select(columns).from(events).$dynamic(), events).where(isOne))
  return new Map(
    rows.map((row) => [
      row.id,
      { connection_id: row.connection_id, headers: row.headers ?? {}, bytes: isKept(row) ? bytesOf(row) : null },
    ]),
  )
}
