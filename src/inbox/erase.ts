import { and, type Column, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { customerLinks } from '../consumers/customers/schema'
import { customersFrom, type ErasureRow, isErasure } from '../consumers/erasures'
import { referenceTo } from '../consumers/guests'
import { CHUNK_ERASED } from '../consumers/limits'
import { type ErasureCursor, erasures } from '../consumers/schema'
import { type Db, type Query, raw } from '../db/client'
import { jsonLists, valuesOf } from '../db/sql'
import { bodies, events, packedBodies, packedKeyOf, payloads, refs } from './schema'
import { type DecodedSummary, storedSummary, summaryIn, summarySet } from './summary'

const e = alias(events, 'e')
const l = alias(customerLinks, 'l')
const r = alias(refs, 'r')
/** Other events of the same delivery. */
const s = alias(events, 's')

/**
 * Reads events that refer to an erasure's customers. `blocked`: the payload is still needed, by this event or by another one of the
 * delivery.
 *
 * @param floor an event id: only later ones
 */
export function selectEvents(db: Db, erasure: ErasureRow, at: ErasureCursor, floor: string) {
  const { from, where, isReached } = customersFrom(erasure, at)
  const isOpen = sql`${e.due_at} IS NOT NULL OR ${hasOpenSibling}`
  return raw(
    db,
    {
      customer: l.customer,
      vendor: l.vendor,
      id: e.id,
      attempts: e.attempts,
      summary: summaryIn(e),
      blocked: sql<boolean>`${isOpen}`.mapWith(Boolean),
    },
    (fields) => sql`SELECT ${fields} ${from}
      CROSS JOIN ${refs} ${r} ON ${r.project_id} = ${l.project_id} AND ${r.ref} = ${referenceTo(l.vendor, l.customer)}
        AND ${r.event_id} > max(${floor}, CASE WHEN ${isReached} THEN ${at.id} ELSE '' END)
      CROSS JOIN ${events} ${e} ON ${e.project_id} = ${r.project_id} AND ${e.id} = ${r.event_id}
      WHERE ${where} AND ${e.summary}->>'$.vendor' = ${l.vendor} LIMIT ${CHUNK_ERASED}`,
  )
}

/** Whether an open event shares the payload of `e`. The events of a delivery have ids of the same time. */
const hasOpenSibling = sql`EXISTS (SELECT 1 FROM ${events} ${s} WHERE ${s.project_id} = ${e.project_id}
  AND ${s.id} >= substr(${e.id}, 1, 14) AND ${s.id} < substr(${e.id}, 1, 14) || '~'
  AND ${s.payload_id} = ${e.payload_id} AND ${s.due_at} IS NOT NULL)`

/** An event whose summary is to be replaced. `attempts` fences: a replay since it was read wrote it anew. */
export type Rewritten = { id: string; attempts: number; summary: DecodedSummary }

/** The statements that delete the payloads of final events, count them, and replace summaries. */
export function deletePayloads(
  db: Db,
  erasure: ErasureRow,
  { ids, rewritten }: { ids: readonly string[]; rewritten: readonly Rewritten[] },
): Record<string, Query> {
  const { project_id } = erasure
  const free = (id: SQL | Column) => sql`(SELECT ${id} FROM ${events} ${e} WHERE ${e.project_id} = ${project_id}
    AND ${e.id} IN ${valuesOf(ids)} AND ${e.due_at} IS NULL AND NOT ${hasOpenSibling})`
  const deleted = (table: typeof bodies | typeof payloads) =>
    db.delete(table).where(and(eq(table.project_id, project_id), sql`${table.id} IN ${free(e.payload_id)}`))
  // `changes()` counts the statement before.
  const counted = () =>
    db
      .update(erasures)
      .set({ removed: sql`${erasures.removed} + changes()` })
      .where(isErasure(erasure))
  const stored = rewritten.map(({ summary, ...one }) => ({ ...one, stored: storedSummary(summary) }))
  const summaries = jsonLists(stored).map((list, i) => [`summaries${i}`, rewrite(db, project_id, list)])
  return {
    packed: db.delete(packedBodies).where(sql`${packedBodies.key} IN ${free(packedKeyOf(e.payload_id))}`),
    counted_first: counted(),
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
    .set(summarySet(sql`j.value->'$.stored'`))
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
