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
export function findKnown(db: Db, projectId: string, { vendor, id }: CustomerKey, most: number) {
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
      body: json<Candidate['body']>(sql`${o.candidates}->${winner('body')}`).as('body'),
    })
    .from(o)
    .where(and(eq(o.project_id, projectId), eq(o.vendor, vendor), or(own, theirs)))
    .limit(most)
}
export type Known = Awaited<ReturnType<typeof findKnown>>[number]
