import { and, eq, inArray, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/client'
import { json } from '../../db/sql'
import type { CustomerKey } from '../customers/read'
import type { Candidate } from '../reduce'
import { billingObjects } from '../schema'

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
  const running = sql`sum(octet_length(${o.candidates})) OVER (ROWS UNBOUNDED PRECEDING)`
  const own = and(eq(o.kind, 'customer'), eq(o.vendor_id, id))
  const theirs = and(inArray(o.kind, ['subscription', 'invoice']), eq(o.customer, id))
  return db
    .select({
      kind: o.kind,
      id: o.vendor_id,
      ambiguous: o.ambiguous,
      event_id: sql<string>`${o.candidates}->>${winner('event_id')}`.as('event_id'),
      rank: sql<string>`${o.candidates}->>${winner('rank')}`.as('rank'),
      after: sql<string>`${o.candidates}->>${winner('after')}`.as('after'),
      /** Null beyond the bytes that were asked for. */
      body: json<Candidate['body']>(
        sql`CASE WHEN ${running} <= ${most.bytes} THEN ${o.candidates}->${winner('body')} END`,
      ).as('body'),
    })
    .from(o)
    .where(and(eq(o.project_id, projectId), eq(o.vendor, vendor), or(own, theirs)))
    .limit(most.rows)
}
export type Known = Awaited<ReturnType<typeof findKnown>>[number]
