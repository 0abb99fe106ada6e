import { and, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { alias, unionAll } from 'drizzle-orm/sqlite-core'
import type { Effect } from '../billing/effect'
import { billingObjects } from '../billing/schema'
import { customerLinks, type ErasureCursor, erasures } from '../consumers/schema'
import { type Db, type Query, raw } from '../db/client'
import { json, jsonLists, valuesOf } from '../db/sql'
import { bodies, events, payloads, refs } from '../inbox/schema'
import { CHUNK_ERASED } from './limits'

const e = alias(events, 'e')
const l = alias(customerLinks, 'l')
const o = alias(billingObjects, 'o')
const r = alias(refs, 'r')
/** Other events of the same delivery. */
const s = alias(events, 's')

export type Erasure = typeof erasures.$inferSelect

/** Reads the next erasure that is due. A first pass comes before all daily ones, however late those are. */
export function nextDue(db: Db, now: number) {
  const isDue = lte(erasures.due_at, now)
  const earliest = (name: string, which: SQL | undefined) =>
    db.select().from(erasures).where(which).orderBy(erasures.due_at).limit(1).as(name)
  const first = db.select().from(earliest('first', and(isDue, isNull(erasures.finished_at))))
  const daily = db.select().from(earliest('daily', isDue))
  return unionAll(first, daily).limit(1)
}

/** The customers of an erasure, from the one that the cursor has reached, in their order. CROSS JOIN keeps it. */
function customersFrom({ project_id, id }: Erasure, at: ErasureCursor): { from: SQL; where: SQL; isReached: SQL } {
  const names = sql`(${l.customer}, ${l.vendor})`
  const reached = sql`(${at.customer}, ${at.vendor})`
  return {
    from: sql`FROM ${customerLinks} ${l} INDEXED BY customer_links_pinned`,
    where: sql`${l.project_id} = ${project_id} AND ${l.pinned} = ${id} AND ${names} >= ${reached}`,
    isReached: sql`${names} = ${reached}`,
  }
}

/** Reads customers of an erasure. */
export function selectCustomers(db: Db, erasure: Erasure, at: ErasureCursor) {
  const { from, where, isReached } = customersFrom(erasure, at)
  return raw(
    db,
    { customer: l.customer, vendor: l.vendor },
    (fields) => sql`SELECT ${fields} ${from} WHERE ${where} AND NOT ${isReached} LIMIT ${CHUNK_ERASED}`,
  )
}

/** Reads the names of subscriptions, invoices and payment methods of an erasure's customers. */
export function selectObjectsOf(db: Db, erasure: Erasure, at: ErasureCursor) {
  const { from, where, isReached } = customersFrom(erasure, at)
  return raw(
    db,
    { customer: l.customer, vendor: l.vendor, kind: o.kind, id: o.vendor_id },
    (fields) => sql`SELECT ${fields} ${from}
      CROSS JOIN json_each('["invoice", "payment_method", "subscription"]') k
      CROSS JOIN ${billingObjects} ${o} INDEXED BY billing_customer ON ${o.project_id} = ${l.project_id}
        AND ${o.kind} = k.value AND ${o.customer} = ${l.customer} AND ${o.vendor} = ${l.vendor}
        AND ${o.vendor_id} > CASE WHEN ${isReached} AND k.value = ${at.kind} THEN ${at.id} ELSE '' END
      WHERE ${where} AND NOT (${isReached} AND k.value < ${at.kind}) LIMIT ${CHUNK_ERASED}`,
  )
}

/**
 * Reads events that refer to an erasure's customers. `blocked`: the payload is still needed, by this event or by another one of the
 * delivery.
 *
 * @param floor an event id: only later ones
 */
export function selectEvents(db: Db, erasure: Erasure, at: ErasureCursor, floor: string) {
  const { from, where, isReached } = customersFrom(erasure, at)
  const isOpen = sql`${e.due_at} IS NOT NULL OR ${hasOpenSibling}`
  return raw(
    db,
    {
      customer: l.customer,
      vendor: l.vendor,
      id: e.id,
      attempts: e.attempts,
      effects: json<Effect[] | null>(sql`${e.summary}->'$.effects'`),
      blocked: sql<boolean>`${isOpen}`.mapWith(Boolean),
    },
    (fields) => sql`SELECT ${fields} ${from}
      CROSS JOIN ${refs} ${r} ON ${r.project_id} = ${l.project_id} AND ${r.ref} = ${l.customer}
        AND ${r.event_id} > max(${floor}, CASE WHEN ${isReached} THEN ${at.id} ELSE '' END)
      CROSS JOIN ${events} ${e} ON ${e.project_id} = ${r.project_id} AND ${e.id} = ${r.event_id}
      WHERE ${where} AND ${e.summary}->>'$.vendor' = ${l.vendor} LIMIT ${CHUNK_ERASED}`,
  )
}

/** Whether an open event shares the payload of `e`. The events of a delivery have ids of the same time. */
const hasOpenSibling = sql`EXISTS (SELECT 1 FROM ${events} ${s} WHERE ${s.project_id} = ${e.project_id}
  AND ${s.id} >= substr(${e.id}, 1, 14) AND ${s.id} < substr(${e.id}, 1, 14) || '~'
  AND ${s.payload_id} = ${e.payload_id} AND ${s.due_at} IS NOT NULL)`

/** An event whose effects are to be replaced. `attempts` fences: a replay since it was read wrote them anew. */
export type Rewritten = { id: string; attempts: number; effects: Effect[] }

/** The statements that delete the payloads of final events, count them, and replace effects. */
export function deletePayloads(
  db: Db,
  erasure: Erasure,
  { ids, rewritten }: { ids: readonly string[]; rewritten: readonly Rewritten[] },
): Record<string, Query> {
  const { project_id } = erasure
  const free = sql`(SELECT ${e.payload_id} FROM ${events} ${e} WHERE ${e.project_id} = ${project_id}
    AND ${e.id} IN ${valuesOf(ids)} AND ${e.due_at} IS NULL AND NOT ${hasOpenSibling})`
  const deleted = (table: typeof bodies | typeof payloads) =>
    db.delete(table).where(and(eq(table.project_id, project_id), sql`${table.id} IN ${free}`))
  // `changes()` counts the statement before.
  const counted = () =>
    db
      .update(erasures)
      .set({ removed: sql`${erasures.removed} + changes()` })
      .where(isErasure(erasure))
  const summaries = jsonLists(rewritten).map((list, i) => [`summaries${i}`, rewrite(db, project_id, list)])
  return {
    bodies: deleted(bodies),
    counted: counted(),
    payloads: deleted(payloads),
    counted_too: counted(),
    ...Object.fromEntries(summaries),
  }
}

function rewrite(db: Db, projectId: string, list: string): Query {
  return db
    .update(events)
    .set({ summary: sql`json_set(${events.summary}, '$.effects', json(j.value->'$.effects'))` })
    .from(sql`json_each(${list}) j`)
    .where(
      and(
        eq(events.project_id, projectId),
        eq(events.id, sql`j.value->>'$.id'`),
        eq(events.attempts, sql`j.value->>'$.attempts'`),
        isNull(events.due_at),
      ),
    )
}

/** Records how far an erasure has got. */
export function moveTo(
  db: Db,
  erasure: Erasure,
  set: Pick<Erasure, 'cursor' | 'due_at'> & { finished_at?: number },
): Query {
  return db.update(erasures).set(set).where(isErasure(erasure))
}

function isErasure({ project_id, id }: Erasure) {
  return and(eq(erasures.project_id, project_id), eq(erasures.id, id))
}
