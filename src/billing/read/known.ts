import { and, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/client'
import { json } from '../../db/sql'
import type { CustomerKey } from '../customers/read'
import type { Candidate } from '../reduce'
import { billingObjects } from '../schema'
import type { StoredObjectKey } from '../store'

const o = alias(billingObjects, 'o')
const winner = (field: keyof Candidate) => sql.raw(`'$[0].${field}'`)

/**
 * Reads what decides the state of a customer and of its subscriptions and invoices, up to so many of them: to be compared with what
 * the vendor answers.
 */
export function findKnown(
  db: Db,
  projectId: string,
  { vendor, id }: CustomerKey,
  most: { rows: number; bytes: number },
) {
  const own = and(eq(o.kind, 'customer'), eq(o.vendor_id, id))
  const theirs = and(inArray(o.kind, ['subscription', 'invoice']), eq(o.customer, id))
  const ofCustomer = and(eq(o.project_id, projectId), eq(o.vendor, vendor), or(own, theirs)) as SQL
  return selectKnown(db, ofCustomer, most.bytes).limit(most.rows)
}
export type Known = Awaited<ReturnType<typeof findKnown>>[number]

/** Reads what decides the state of these objects. One that is not known is not among them. @param bytes as below */
export function findKnownOf(db: Db, keys: readonly StoredObjectKey[], bytes = Number.MAX_SAFE_INTEGER) {
  const list = JSON.stringify(
    keys.map(({ project_id, kind, vendor_id, vendor }) => [project_id, kind, vendor_id, vendor]),
  )
  const isOne = sql`(${o.project_id}, ${o.kind}, ${o.vendor_id}, ${o.vendor}) IN
    (SELECT value->>0, value->>1, value->>2, value->>3 FROM json_each(${list}))`
  return selectKnown(db, isOne, bytes)
}

/** @param bytes that the rows may have together: those beyond come without their bodies */
function selectKnown(db: Db, which: SQL, bytes: number) {
  const running = sql`sum(octet_length(${o.candidates})) OVER (ROWS UNBOUNDED PRECEDING)`
  return db
    .select({
      project_id: o.project_id,
      kind: o.kind,
      id: o.vendor_id,
      ambiguous: o.ambiguous,
      event_id: sql<string>`${o.candidates}->>${winner('event_id')}`.as('event_id'),
      rank: sql<string>`${o.candidates}->>${winner('rank')}`.as('rank'),
      after: sql<string>`${o.candidates}->>${winner('after')}`.as('after'),
      /** Null beyond the bytes that were asked for. */
      body: json<Candidate['body']>(
        sql`CASE WHEN ${running} <= ${bytes} THEN ${o.candidates}->${winner('body')} END`,
      ).as('body'),
    })
    .from(o)
    .where(which)
}
