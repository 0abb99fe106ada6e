import { and, eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, raw } from '../../db/client'
import { json } from '../../db/sql'
import type { CustomerKey } from '../customers/read'
import type { Candidate } from '../reduce'
import { billingObjects } from '../schema'
import type { StoredObjectKey } from '../store'

const o = alias(billingObjects, 'o')
const winner = (field: keyof Candidate) => sql.raw(`'$[0].${field}'`)

/**
 * Reads what decides the state of a customer and of its subscriptions and invoices, up to so many of them: to be compared with what
 * the vendor answers. Each kind is found by an index: with one condition for all of them, SQLite walks every object of the project.
 */
export function findKnown(
  db: Db,
  projectId: string,
  { vendor, id }: CustomerKey,
  most: { subscriptions: number; invoices: number; bytes: number },
) {
  const own = and(eq(o.project_id, projectId), eq(o.kind, 'customer'), eq(o.vendor_id, id), eq(o.vendor, vendor))
  const theirs = (kind: 'subscription' | 'invoice', rows: number) => {
    const ofCustomer = and(eq(o.project_id, projectId), eq(o.kind, kind), eq(o.customer, id), eq(o.vendor, vendor))
    return sql`SELECT * FROM (SELECT * FROM ${billingObjects} ${o} INDEXED BY billing_customer WHERE ${ofCustomer} LIMIT ${rows})`
  }
  const all = sql`(SELECT * FROM ${billingObjects} ${o} WHERE ${own} UNION ALL ${theirs('subscription', most.subscriptions)}
    UNION ALL ${theirs('invoice', most.invoices)}) ${o}`
  return selectKnown(db, all, most.bytes)
}
export type Known = ReturnType<typeof findKnown>['_']['result'][number]

/** Reads what decides the state of these objects. One that is not known is not among them. @param bytes as below */
export function findKnownOf(db: Db, keys: readonly StoredObjectKey[], bytes = Number.MAX_SAFE_INTEGER) {
  const list = JSON.stringify(
    keys.map(({ project_id, kind, vendor_id, vendor }) => [project_id, kind, vendor_id, vendor]),
  )
  const isOne = sql`(${o.project_id}, ${o.kind}, ${o.vendor_id}, ${o.vendor}) IN
    (SELECT value->>0, value->>1, value->>2, value->>3 FROM json_each(${list}))`
  return selectKnown(db, sql`${billingObjects} ${o} WHERE ${isOne}`, bytes)
}

/**
 * @param from and WHERE
 * @param bytes that the rows may have together: those beyond come without their bodies
 */
function selectKnown(db: Db, from: SQL, bytes: number) {
  const running = sql`sum(octet_length(${o.candidates})) OVER (ROWS UNBOUNDED PRECEDING)`
  const text = (field: keyof Candidate) => sql<string>`${o.candidates}->>${winner(field)}`
  return raw(
    db,
    {
      project_id: o.project_id,
      kind: o.kind,
      id: o.vendor_id,
      vendor: o.vendor,
      ambiguous: o.ambiguous,
      incomplete: o.incomplete,
      event_id: text('event_id'),
      rank: text('rank'),
      after: text('after'),
      /** Null beyond the bytes that were asked for. */
      body: json<Candidate['body']>(sql`CASE WHEN ${running} <= ${bytes} THEN ${o.candidates}->${winner('body')} END`),
    },
    (fields) => sql`SELECT ${fields} FROM ${from}`,
  )
}
