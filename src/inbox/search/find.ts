import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { CustomerKey } from '../../billing/customers/read'
import { MAX_CUSTOMERS } from '../../consumers/limits'
import { someCustomersOf } from '../../consumers/links'
import { batch, type Db, type Queries, type Query, raw, run } from '../../db/client'
import { json } from '../../db/sql'
import { vendorOf } from '../../vendors'
import { connections } from '../connections/schema'
import type { ShownStatus } from '../lifecycle'
import { events } from '../schema'
import { i, isOpenOf, isOpenOnly, isPrefix } from './conditions'
import type { Filters, SearchFacts } from './filters'
import type { Index } from './indexes'
import { FEW_EVENTS, MAX_TYPES } from './limits'

/** Reads the facts: one round trip, or none. */
export async function readSearchFacts(db: Db, project: string, filters: Filters): Promise<SearchFacts> {
  const { statuses, types, ref, error, error_code, min_attempts, vendor_event_id, consumer } = filters
  const ofConnections = filters.vendor !== null || filters.connection_id !== null || filters.livemode !== null
  const others = [statuses, types, ref, error, error_code, min_attempts].some((filter) => filter !== null)
  const prefixes = types?.filter(isPrefix) ?? []
  const found = await asked(db, {
    connections: ofConnections || vendor_event_id !== null ? matchingConnections(db, project, filters) : null,
    manyOfConnections: ofConnections && others ? manyOfConnections(db, project, filters) : null,
    manyOpen: statuses && isOpenOnly(statuses) ? manyOpen(db, project, statuses) : null,
    types: prefixes.length > 0 ? typesWithPrefix(db, project, prefixes) : null,
    customers: consumer && someCustomersOf(db, project, consumer, MAX_CUSTOMERS + 1),
  })
  const exact = types?.filter((type) => !isPrefix(type)) ?? []
  const all = [...new Set([...exact, ...(found.types ?? []).flatMap(({ type }) => type ?? [])])]
  return {
    connections: found.connections?.map(({ id }) => id) ?? null,
    fewOfConnections: found.manyOfConnections?.length === 0,
    fewOpen: found.manyOpen?.length === 0,
    customers: found.customers ? referredTo(found.customers) : null,
    types: types === null || all.length > MAX_TYPES ? null : all,
  }
}

/** The ids of these customers. Null if there are too many, or if not all events of their vendors refer to the customer. */
function referredTo(customers: readonly CustomerKey[]): string[] | null {
  const areFound = customers.every(({ vendor }) => vendorOf(vendor)?.snapshots)
  return areFound && customers.length <= MAX_CUSTOMERS ? [...new Set(customers.map(({ id }) => id))] : null
}

/** One list of an index, as far as it was read: how many events, the last one, and the events that match. */
export type Read = { looked: number; last: string | null; matches: string[] }
/** Ids, exclusive at both ends. */
export type IdRange = { above: string; below: string }

/** What to read of an index. */
export type Scan = { index: Index; keys: readonly string[]; checks: SQL | null; range: IdRange; limit: number }

/** Sends {@link scanned}. */
export async function scan(db: Db, project: string, filters: Filters, of: Scan): Promise<Read[]> {
  return (await run(db, scanned(db, project, filters, of))).map(({ read }) => read)
}

/**
 * Reads the first `limit` events in the range from the list of each key: one row per event, or two if there are
 * conditions to check.
 */
export function scanned(
  db: Db,
  project: string,
  filters: Filters,
  { index, keys, checks, range, limit }: Scan,
): Query<{ read: Read }[]> {
  const order = sql.raw(filters.order)
  const last = sql.raw(filters.order === 'desc' ? 'min' : 'max')
  const list = sql`SELECT ${index.id} AS id, (${checks ?? sql`1`}) AS ok FROM ${index.events(project, filters)}
    AND ${index.id} > ${range.above} AND ${index.id} < ${range.below} ORDER BY ${index.id} ${order} LIMIT ${limit}`
  // A scalar subquery a list: as a join, each id would be read four times.
  const read = json<Read>(sql`(SELECT json_object('looked', count(*), 'last', ${last}(id),
    'matches', json_group_array(id) FILTER (WHERE ok)) FROM (${list}))`)
  return raw(db, { read }, (fields) => sql`SELECT ${fields} FROM json_each(${JSON.stringify(keys)}) t`)
}

function connectionCondition(project: string, { vendor, connection_id, livemode }: Filters) {
  return and(
    eq(connections.project_id, project),
    vendor === null ? undefined : eq(connections.vendor, vendor),
    connection_id === null ? undefined : eq(connections.id, connection_id),
    livemode === null ? undefined : eq(connections.livemode, livemode),
  )
}

function matchingConnections(db: Db, project: string, filters: Filters) {
  return db.select({ id: connections.id }).from(connections).where(connectionCondition(project, filters))
}

/** A row if the matching connections have more than {@link FEW_EVENTS} events. */
function manyOfConnections(db: Db, project: string, filters: Filters) {
  return raw(
    db,
    { id: i.id },
    (fields) => sql`SELECT ${fields} FROM ${connections}
      CROSS JOIN ${events} i INDEXED BY events_connection ON ${i.connection_id} = ${connections.id}
      WHERE ${connectionCondition(project, filters)} LIMIT 1 OFFSET ${FEW_EVENTS}`,
  )
}

/** A row if the project has more than {@link FEW_EVENTS} open events of the kind that these statuses ask for. */
function manyOpen(db: Db, project: string, statuses: readonly ShownStatus[]) {
  return raw(
    db,
    { id: i.id },
    (fields) => sql`SELECT ${fields} FROM ${events} i INDEXED BY events_open
      WHERE ${i.project_id} = ${project} AND ${isOpenOf(statuses)} LIMIT 1 OFFSET ${FEW_EVENTS}`,
  )
}

/** Steps from one type of a prefix to the next, without the events between. A prefix ends with a row of null. */
function typesWithPrefix(db: Db, project: string, prefixes: readonly string[]) {
  const next = (after: SQL) => sql`(SELECT min(${i.event_type}) FROM ${events} i INDEXED BY events_type
    WHERE ${i.project_id} = ${project} AND ${i.event_type} ${after} AND ${i.event_type} < prefix || char(0x10ffff))`
  const list = JSON.stringify(prefixes.map((type) => type.slice(0, -1)))
  return raw(
    db,
    { type: sql<string | null>`type` },
    (fields) => sql`WITH RECURSIVE
      prefixes (prefix) AS (SELECT value FROM json_each(${list})),
      types (prefix, type) AS (
        SELECT prefix, ${next(sql`>= prefix`)} FROM prefixes
        UNION ALL
        SELECT prefix, ${next(sql`> type`)} FROM types WHERE type IS NOT NULL
        LIMIT ${MAX_TYPES + prefixes.length + 1})
      SELECT ${fields} FROM types`,
  )
}

type Answers<Q> = { [Name in keyof Q]?: Q[Name] extends Query<infer T> | null ? T : never }

/** Sends the queries that are not null. */
async function asked<Q extends Record<string, Query | null>>(db: Db, queries: Q): Promise<Answers<Q>> {
  const some = Object.fromEntries(Object.entries(queries).filter(([, query]) => query !== null)) as Queries
  return (Object.keys(some).length === 0 ? {} : await batch(db, some)) as Answers<Q>
}
