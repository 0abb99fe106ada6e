import { type SQL, sql } from 'drizzle-orm'
import { ConstraintError, type Db, type Query, rawWrite } from '../db/client'
import { old } from '../db/old'
import type { Status } from '../inbox/lifecycle'
import { events, refs } from '../inbox/schema'
import type { Kind } from '../lib/billing-kinds'
import type { Candidate } from './reduce'
import { billingObjects } from './schema'

export type ObjectKey = { project_id: string; kind: Kind; vendor_id: string; vendor: string }

/** An object's row as it is to be. */
export type Projection = {
  key: ObjectKey
  /** Of the row as it was read; 0 where there was none. */
  version: number
  /** As it was read; undefined where there was none. */
  customer: string | null | undefined
  candidates: Candidate[]
  ambiguous: boolean
  /** Ids of the events that change it; none where it stays as it is. */
  by: string[]
}

/** One text for each object. */
export function nameOf({ project_id, kind, vendor_id, vendor }: ObjectKey): string {
  return [project_id, kind, vendor, vendor_id].join(' ')
}

type Stored = typeof billingObjects.$inferSelect

/** The rows of these objects by {@link nameOf}; what is not there has none. */
export async function readObjects(db: Db, keys: readonly ObjectKey[]): Promise<Map<string, Projection>> {
  const names = new Map(keys.map((key) => [nameOf(key), key]))
  const list = JSON.stringify([...names.values()].map((key) => [key.project_id, key.kind, key.vendor_id, key.vendor]))
  const rows = await old(db).all(sql<Stored>`SELECT o.* FROM json_each(${list}) j CROSS JOIN ${billingObjects} o
    ON o.project_id = j.value->>0 AND o.kind = j.value->>1 AND o.vendor_id = j.value->>2 AND o.vendor = j.value->>3`)
  return new Map(
    rows.map((row) => {
      const { project_id, kind, vendor_id, vendor, version } = row
      const key = { project_id, kind, vendor_id, vendor }
      const candidates = JSON.parse(row.candidates) as Candidate[]
      return [nameOf(key), { key, version, customer: row.customer, candidates, ambiguous: row.ambiguous === 1, by: [] }]
    }),
  )
}

/** The condition that a worker still holds one of these events of a project. `eventIds`: a JSON list. */
export type Held = (projectId: SQL, eventIds: SQL) => SQL

/**
 * The statements that write projections, for the batch that finishes their events. A row that another worker has
 * changed since it was read makes the whole batch fail: see {@link isStale}.
 *
 * Rows whose customer stays have a statement of their own: SQLite writes the index of a column that is set, whether or
 * not its value changes.
 *
 * @param held a row none of whose events this worker still holds is left alone
 */
export function writeObjects(db: Db, projections: readonly Projection[], held: Held): Record<string, Query> {
  const moved = projections.filter(({ customer, candidates }) => customer !== candidates[0]?.body?.customer)
  const still = projections.filter((one) => !moved.includes(one))
  return {
    ...(moved.length > 0 && { moved: rawWrite(db, upsert(moved, held, sql`customer = excluded.customer,`)) }),
    ...(still.length > 0 && { still: rawWrite(db, upsert(still, held, sql``)) }),
  }
}

function upsert(projections: readonly Projection[], held: Held, customer: SQL): SQL {
  const list = JSON.stringify(
    projections.map(({ key, version, candidates, ambiguous, by }) => {
      const body = candidates[0]?.body as { customer: string | null; subscription?: string | null; status: string }
      const { project_id, kind, vendor_id, vendor } = key
      return [
        [project_id, kind, vendor_id, vendor, body.customer, body.subscription ?? null, body.status],
        [Number(ambiguous), version + 1, JSON.stringify(candidates)],
        by,
      ]
    }),
  )
  const columns = [
    ...[0, 1, 2, 3, 4, 5, 6].map((index) => sql.raw(`j.value->0->>${index}`)),
    ...[0, 1, 2].map((index) => sql.raw(`j.value->1->>${index}`)),
  ]
  return sql`INSERT INTO ${billingObjects} (project_id, kind, vendor_id, vendor, customer, subscription, status, ambiguous,
      version, candidates)
    SELECT ${sql.join(columns, sql`, `)} FROM json_each(${list}) j
    WHERE ${held(sql`j.value->0->>0`, sql`j.value->2`)}
    ON CONFLICT DO UPDATE SET ${customer} subscription = excluded.subscription, status = excluded.status,
      ambiguous = excluded.ambiguous, candidates = excluded.candidates,
      version = CASE WHEN version = excluded.version - 1 THEN excluded.version END`
}

/** Whether a batch failed because a row had changed since it was read: read again, decide again. */
export function isStale(error: unknown): boolean {
  return error instanceof ConstraintError && /NOT NULL.*billing_objects\.version/.test(error.message)
}

export type ObjectRow = Pick<Stored, 'vendor' | 'vendor_id' | 'ambiguous'> & {
  /** JSON: the body of the event that speaks for the object. */
  body: string
  event_id: string
  /** JSON, of a payment method: what payments say of its card. */
  card: string | null
}

/** The objects of a list by what it is filtered by. */
export type ObjectFilters = {
  customer?: string | undefined
  subscription?: string | undefined
  status?: string | undefined
  vendor?: string | undefined
}

/** Where a list stands: the key of a row. */
export type Position = { vendor_id: string; vendor: string }

/** Rows that one page of a list reads at most, where no index answers all of its filters. */
export const MAX_ROWS_READ = 10_000
/** They are gone through once for the page and, where it is not full, once more for where to read on. */
const MAX_SCANNED = MAX_ROWS_READ / 2

/**
 * Objects of a kind in the descending order of their ids.
 *
 * @returns `resume`: where to read on, where the bound of {@link MAX_ROWS_READ} was reached before the page was full
 */
export async function listObjects(
  db: Db,
  projectId: string,
  kind: Kind,
  filters: ObjectFilters,
  before: Position | null,
  limit: number,
): Promise<{ rows: ObjectRow[]; resume: Position | null }> {
  const { driver, residual } = planOf(projectId, kind, filters)
  const after = before ? sql`AND (o.vendor_id, o.vendor) < (${before.vendor_id}, ${before.vendor})` : sql``
  const from = sql`FROM ${billingObjects} o ${driver} ${after}
    ORDER BY o.vendor_id DESC, o.vendor DESC`
  const rows = await old(
    db,
  ).all(sql<ObjectRow>`SELECT ${shown} FROM (SELECT o.* ${from} LIMIT ${MAX_SCANNED}) o ${withCard}
    WHERE ${residual} ORDER BY o.vendor_id DESC, o.vendor DESC LIMIT ${limit}`)
  if (rows.length === limit) return { rows, resume: null }
  const resume = await old(db).first(
    sql<Position>`SELECT o.vendor_id, o.vendor ${from} LIMIT 1 OFFSET ${MAX_SCANNED - 1}`,
  )
  return { rows, resume }
}

/**
 * The index a list goes by, pinned, and what is left to ask of each row. There is one beside the key, by customer: each
 * more would be a row written for every new object.
 */
function planOf(projectId: string, kind: Kind, { customer, subscription, status, vendor }: ObjectFilters) {
  const of = sql`o.project_id = ${projectId} AND o.kind = ${kind}`
  const rest = [
    status === undefined ? sql`o.status <> 'deleted'` : sql`o.status = ${status}`,
    subscription !== undefined && sql`o.subscription = ${subscription}`,
    vendor !== undefined && sql`o.vendor = ${vendor}`,
  ].filter((condition) => condition !== false)
  const driver =
    customer === undefined
      ? sql`NOT INDEXED WHERE ${of}`
      : sql`INDEXED BY billing_customer WHERE ${of} AND o.customer = ${customer}`
  return { driver, residual: sql.join(rest, sql` AND `) }
}

/** An object by the vendor's id of it; of two vendors that gave the same one, the named, or else the first by name. */
export function findObject(
  db: Db,
  projectId: string,
  kind: Kind,
  vendorId: string,
  vendor: string | undefined,
): Promise<ObjectRow | null> {
  return old(db).first(sql<ObjectRow>`SELECT ${shown} FROM ${billingObjects} o ${withCard}
    WHERE o.project_id = ${projectId} AND o.kind = ${kind} AND o.vendor_id = ${vendorId}
      AND o.vendor = coalesce(${vendor ?? null}, o.vendor) ORDER BY o.vendor LIMIT 1`)
}

const shown = sql`o.vendor, o.vendor_id, o.ambiguous, o.candidates->'$[0].body' AS body,
  o.candidates->>'$[0].event_id' AS event_id, k.candidates->'$[0].body' AS card`
const withCard = sql`LEFT JOIN ${billingObjects} k ON o.kind = 'payment_method' AND k.project_id = o.project_id
  AND k.kind = 'payment_card' AND k.vendor_id = o.vendor_id AND k.vendor = o.vendor`

/** How many of a project's objects more than one event could speak for; counted up to a bound. */
export function ambiguousOf(projectId: string, bound: number): SQL<{ n: number }> {
  return sql`SELECT count(*) AS n FROM (SELECT 1 FROM ${billingObjects} INDEXED BY billing_ambiguous
    WHERE project_id = ${projectId} AND ambiguous = 1 LIMIT ${bound})`
}

export type TimelineRow = {
  id: string
  event_type: string
  occurred_at: string | null
  status: Status
  /** JSON: what the event's summary says of itself; null while it is not processed. */
  object_id: string | null
  effects: string | null
}

/**
 * The newest received of the events that refer to a vendor's object, the latest by the vendor's time first. Without its
 * `Z`, a time sorts as text whatever its digits.
 */
export function listReferring(
  db: Db,
  projectId: string,
  vendorId: string,
  before: string | null,
  limit: number,
): Promise<TimelineRow[]> {
  return old(db).all(sql<TimelineRow>`SELECT e.id, e.event_type, e.occurred_at, e.status,
      e.summary->>'$.object.id' AS object_id, e.summary->'$.effects' AS effects
    FROM (SELECT event_id FROM ${refs} WHERE project_id = ${projectId} AND ref = ${vendorId} AND event_id < ${before ?? '~'}
      ORDER BY event_id DESC LIMIT ${limit}) r
    CROSS JOIN ${events} e ON e.project_id = ${projectId} AND e.id = r.event_id
      ORDER BY rtrim(e.occurred_at, 'Z') DESC, e.id DESC`)
}
