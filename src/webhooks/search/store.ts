import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { connections, events, refs } from '../../db/schema'
import { FINAL_STATUSES, type Status } from '../../lib/statuses'
import type { Filters } from './filters'

/*
 * SQLite's planner, left alone, scans at a million rows. So each search picks the one index that narrows it most (the
 * driver, pinned by INDEXED BY), takes the newest few ids of each of its streams (one stream a type, status or
 * connection), and checks whatever else is asked on those.
 */

/** A search's way through an index. */
export type Plan = {
  project: string
  /** One stream of ids each: `t.value` in `candidates`. */
  streams: readonly string[]
  /** Ids of one stream, in order: everything but the bounds, which {@link scan} adds. */
  from: SQL
  id: SQL
  /** What the index does not answer; null where it answers everything. */
  residual: SQL | null
}

/** Ids, exclusive at both ends. */
export type Range = { above: string; below: string }

/** An id that an index gave, of which stream, and whether it is what was asked for. */
export type Candidate = { id: string; stream: number; ok: number }

/** The first `each` candidates of every stream of a plan. */
export function scan(db: Db, plan: Plan, range: Range, order: 'asc' | 'desc', each: number): Promise<Candidate[]> {
  const dir = sql.raw(order)
  return db.all(sql<Candidate>`SELECT e.id, t.key AS stream, (${plan.residual ?? sql`1`}) AS ok
    FROM json_each(${JSON.stringify(plan.streams)}) t CROSS JOIN ${events} e ON e.project_id = ${plan.project} AND e.id IN (
      SELECT ${plan.id} FROM ${plan.from} AND ${plan.id} > ${range.above} AND ${plan.id} < ${range.below}
      ORDER BY ${plan.id} ${dir} LIMIT ${each})
    ORDER BY e.id ${dir}`)
}

/** The event types of a project that start with a prefix, by skipping from one to the next in their index. */
export async function typesWithPrefix(db: Db, project: string, prefix: string, most: number): Promise<string[]> {
  const end = `${prefix}\u{10ffff}`
  const of = sql`FROM ${events} INDEXED BY events_type WHERE project_id = ${project}`
  const rows = await db.all(sql<{ v: string }>`WITH RECURSIVE ty(v) AS (
      SELECT min(event_type) ${of} AND event_type >= ${prefix} AND event_type < ${end}
      UNION ALL
      SELECT (SELECT min(event_type) ${of} AND event_type > ty.v AND event_type < ${end}) FROM ty WHERE ty.v IS NOT NULL LIMIT ${most})
    SELECT v FROM ty WHERE v IS NOT NULL`)
  return rows.map(({ v }) => v)
}

/** The project's connections, deleted ones too, of a vendor and mode. */
export async function connectionsOf(db: Db, project: string, filters: Filters): Promise<string[]> {
  const { vendor, livemode, connection_id } = filters
  const rows = await db.all(sql<{ id: string }>`SELECT id FROM ${connections} WHERE project_id = ${project}
    AND (${vendor} IS NULL OR vendor = ${vendor}) AND (${connection_id} IS NULL OR id = ${connection_id})
    AND (${livemode} IS NULL OR livemode = ${livemode === true ? 1 : 0})`)
  return rows.map(({ id }) => id)
}

/** How many open events a project has, counted up to `most`. */
export async function countOpen(db: Db, project: string, most: number): Promise<number> {
  const row = await db.first(sql<{ n: number }>`SELECT count(*) AS n FROM (
    SELECT 1 FROM ${events} INDEXED BY events_open WHERE project_id = ${project} AND due_at IS NOT NULL LIMIT ${most})`)
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
    from: sql`${refs} r WHERE r.project_id = ${project} AND r.ref = ${ref}`,
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
  const parts: SQL[] = []
  const add = (name: string, wanted: boolean, condition: () => SQL) => {
    if (wanted && !answered.has(name)) parts.push(condition())
  }
  add('types', filters.types !== null, () => typeCondition(filters.types ?? []))
  add('statuses', filters.statuses !== null, () => among(sql`e.status`, filters.statuses ?? []))
  add('connections', connectionIds !== null, () => among(sql`e.connection_id`, connectionIds ?? []))
  add('vendor_event_id', filters.vendor_event_id !== null, () => sql`e.vendor_event_id = ${filters.vendor_event_id}`)
  add('min_attempts', filters.min_attempts > 0, () => sql`e.attempts >= ${filters.min_attempts}`)
  add(
    'error',
    filters.error !== null,
    () => sql`coalesce(instr(lower(e.last_error), ${filters.error?.toLowerCase()}), 0) > 0`,
  )
  return parts.length === 0 ? null : sql.join(parts, sql` AND `)
}

function typeCondition(types: readonly string[]): SQL {
  const exact = types.filter((type) => !type.endsWith('*'))
  const prefixes = types.filter((type) => type.endsWith('*')).map((type) => type.slice(0, -1))
  const starts = prefixes.map((prefix) => sql`substr(e.event_type, 1, ${[...prefix].length}) = ${prefix}`)
  return sql`(${sql.join([among(sql`e.event_type`, exact), ...starts], sql` OR `)})`
}

function among(column: SQL, values: readonly string[]): SQL {
  return sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`
}

export const isFinal = (status: Status): boolean => (FINAL_STATUSES as readonly Status[]).includes(status)
