import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { old } from '../../db/old'
import { connections } from '../connections/schema'
import { FINAL_STATUSES, type Status } from '../lifecycle'
import { events, refs } from '../schema'
import type { Filters } from './filters'

/*
 * SQLite's planner, left alone, scans at a million rows. So each search picks the one index that narrows it most (the
 * driver, pinned by INDEXED BY), takes the newest few ids of each of its streams (one stream a type, status or
 * connection), and checks whatever else is asked on those.
 */

/** A search's way through an index. */
export type Plan = {
  /** What `t.value` stands for in `from`: one stream of ids each. */
  streams: readonly string[]
  /** Events `i` of one stream, but for the bounds of their ids, which {@link scan} adds. */
  from: SQL
  id: SQL
  /** What the index does not answer, of `i`; null where it answers everything. */
  residual: SQL | null
  /** Whether the streams end soon, and are read to their end at once: their order is not the index's. */
  few: boolean
  /** The way to go on where this one finds too little and these connections have few events. */
  instead: { connections: readonly string[]; plan: Plan } | null
}

/** Ids, exclusive at both ends. */
export type Range = { above: string; below: string }

/** What was read of a stream: how many ids, the last one of them, and those that are what was asked for. */
export type Stretch = { n: number; last: string | null; ids: string[] }

/** The first `each` ids of every stream of a plan: one row read for each, two by way of {@link refs}. */
export async function scan(db: Db, plan: Plan, range: Range, order: 'asc' | 'desc', each: number): Promise<Stretch[]> {
  const { streams, from, id, residual } = plan
  const last = sql.raw(order === 'desc' ? 'min' : 'max')
  // A scalar subquery a stream: as a join, each id would be read four times.
  const rows = await old(db).all(sql<{ stretch: string }>`SELECT (
      SELECT json_object('n', count(*), 'last', ${last}(id), 'ids', json_group_array(id) FILTER (WHERE ok)) FROM (
        SELECT ${id} AS id, (${residual ?? sql`1`}) AS ok FROM ${from} AND ${id} > ${range.above} AND ${id} < ${range.below}
        ORDER BY ${id} ${sql.raw(order)} LIMIT ${each})) AS stretch
    FROM json_each(${JSON.stringify(streams)}) t`)
  return rows.map(({ stretch }) => JSON.parse(stretch) as Stretch)
}

/** The event types of a project that start with each of the prefixes, at most `most` of each. */
export async function typesWithPrefix(
  db: Db,
  project: string,
  prefixes: readonly string[],
  most: number,
): Promise<string[][]> {
  if (prefixes.length === 0) return []
  const found = await old(db).batch(prefixes.map((prefix) => skipThroughTypes(project, prefix, most)))
  return found.map(({ rows }) => rows.map(({ v }) => v))
}

/** From one type to the next in their index, without the events between. */
function skipThroughTypes(project: string, prefix: string, most: number) {
  const end = `${prefix}\u{10ffff}`
  const of = sql`FROM ${events} INDEXED BY events_type WHERE project_id = ${project}`
  return sql<{ v: string }>`WITH RECURSIVE ty(v) AS (
      SELECT min(event_type) ${of} AND event_type >= ${prefix} AND event_type < ${end}
      UNION ALL
      SELECT (SELECT min(event_type) ${of} AND event_type > ty.v AND event_type < ${end}) FROM ty WHERE ty.v IS NOT NULL LIMIT ${most})
    SELECT v FROM ty WHERE v IS NOT NULL`
}

/** The project's connections, deleted ones too, of a vendor and mode. */
export async function connectionsOf(db: Db, project: string, filters: Filters): Promise<string[]> {
  const { vendor, livemode, connection_id } = filters
  const rows = await old(db).all(sql<{ id: string }>`SELECT id FROM ${connections} WHERE project_id = ${project}
    AND (${vendor} IS NULL OR vendor = ${vendor}) AND (${connection_id} IS NULL OR id = ${connection_id})
    AND (${livemode} IS NULL OR livemode = ${livemode === true ? 1 : 0})`)
  return rows.map(({ id }) => id)
}

/** How many open events a project has, counted up to `most`. */
export async function countOpen(db: Db, project: string, most: number): Promise<number> {
  const row = await old(db).first(sql<{ n: number }>`SELECT count(*) AS n FROM (
    SELECT 1 FROM ${events} INDEXED BY events_open WHERE project_id = ${project} AND due_at IS NOT NULL LIMIT ${most})`)
  return row?.n ?? 0
}

/** How many events the connections have together, counted up to `most`. */
export async function countOf(db: Db, connectionIds: readonly string[], most: number): Promise<number> {
  const row = await old(db).first(sql<{ n: number }>`SELECT count(*) AS n FROM (
    SELECT 1 FROM json_each(${JSON.stringify(connectionIds)}) t
      CROSS JOIN ${events} i INDEXED BY events_connection ON i.connection_id = t.value LIMIT ${most})`)
  return row?.n ?? 0
}

type Index = (project: string, argument: string) => { from: SQL; id: SQL }

/** The ways into the events: what of a stream `t.value` stands for in each. */
export const INDEXES = {
  time: (project) => ({ from: sql`${events} i WHERE i.project_id = ${project}`, id: sql`i.id` }),
  type: (project) => ({
    from: sql`${events} i INDEXED BY events_type WHERE i.project_id = ${project} AND i.event_type = t.value`,
    id: sql`i.id`,
  }),
  connection: () => ({
    from: sql`${events} i INDEXED BY events_connection WHERE i.connection_id = t.value`,
    id: sql`i.id`,
  }),
  vendorEvent: (_, vendorEventId) => ({
    from: sql`${events} i INDEXED BY events_dedupe WHERE i.connection_id = t.value AND i.vendor_event_id = ${vendorEventId}`,
    id: sql`i.id`,
  }),
  ref: (project, ref) => ({
    from: sql`${refs} r CROSS JOIN ${events} i ON i.project_id = r.project_id AND i.id = r.event_id WHERE r.project_id = ${project} AND r.ref = ${ref}`,
    id: sql`r.event_id`,
  }),
  trouble: (project) => ({
    from: sql`${events} i INDEXED BY events_trouble WHERE i.project_id = ${project}
      AND (i.attempts > 1 OR i.last_error IS NOT NULL)`,
    id: sql`i.id`,
  }),
  final: (project) => ({
    from: sql`${events} i INDEXED BY events_final WHERE i.project_id = ${project} AND i.status = t.value AND i.due_at IS NULL`,
    id: sql`i.id`,
  }),
  /** Sorted by id here: for a project with few open events. */
  open: (project) => ({
    from: sql`${events} i INDEXED BY events_open WHERE i.project_id = ${project} AND i.due_at IS NOT NULL`,
    id: sql`i.id`,
  }),
} as const satisfies Record<string, Index>

/** The conditions that are left when `answered` is what the driver answers. */
export function residualOf(
  filters: Filters,
  connectionIds: readonly string[] | null,
  answered: ReadonlySet<string>,
): SQL | null {
  const { types, statuses, vendor_event_id, ref, min_attempts, error } = filters
  const conditions = {
    types: types && typeCondition(types),
    statuses: statuses && among(sql`i.status`, statuses),
    connections: connectionIds && among(sql`i.connection_id`, connectionIds),
    vendor_event_id: vendor_event_id && sql`i.vendor_event_id = ${vendor_event_id}`,
    ref:
      ref &&
      sql`EXISTS (SELECT 1 FROM ${refs} r WHERE r.project_id = i.project_id AND r.ref = ${ref} AND r.event_id = i.id)`,
    min_attempts: min_attempts > 0 && sql`i.attempts >= ${min_attempts}`,
    // SQLite's own lower() on both sides: it knows ASCII alone, JavaScript's knows more.
    error: error !== null && sql`coalesce(instr(lower(i.last_error), lower(${error})), 0) > 0`,
  }
  const parts = Object.entries(conditions).flatMap(([name, part]) => (part && !answered.has(name) ? [part] : []))
  return parts.length === 0 ? null : sql.join(parts, sql` AND `)
}

function typeCondition(types: readonly string[]): SQL {
  const each = types.map((type) => {
    if (!type.endsWith('*')) return sql`i.event_type = ${type}`
    const prefix = type.slice(0, -1)
    return sql`substr(i.event_type, 1, ${[...prefix].length}) = ${prefix}`
  })
  return sql`(${sql.join(each, sql` OR `)})`
}

/** For ids and statuses, which hold no quotes: a list in a table, as `IN` makes it, counts as one more row read each. */
function among(column: SQL, values: readonly string[]): SQL {
  return sql`instr(${JSON.stringify(values)}, '"' || ${column} || '"') > 0`
}

export const isFinal = (status: Status): boolean => (FINAL_STATUSES as readonly Status[]).includes(status)
