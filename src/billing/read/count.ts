import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Db, type Query, raw } from '../../db/client'
import { type Total, totalOf } from '../../db/total'
import type { ObjectKind } from '../../lib/billing-kinds'
import { billingObjects } from '../schema'
import { conditionsOnBody } from './filters'
import { ARE_FEW, fewOf, type ListedBy, o, planOf } from './store'

/** What is read of each object that is counted: nothing of its body. */
const COLUMNS = sql`${o.project_id}, ${o.kind}, ${o.vendor}, ${o.vendor_id}, ${o.status}, ${o.subscription}, ${o.updated}`

/** A list to count, all of its pages. */
type Counted = Pick<ListedBy, 'filters' | 'customers' | 'onItems'>

/**
 * Counts the objects of a list, from what an index and the columns of its rows say: see {@link totalOf}. `n` is null if that says nothing.
 *
 * @returns null if only the objects themselves say whether they are in the list
 */
export function countObjects(db: Db, projectId: string, kind: ObjectKind, by: Counted): Query<Total[]> | null {
  const { filters, customers, onItems } = by
  const { customer, livemode, updated_after, overdue } = filters
  if (overdue || conditionsOnBody(o, filters, onItems).length > 0) return null
  const ofKind = and(eq(o.project_id, projectId), eq(o.kind, kind))
  const { index, changed, rest } = planOf(by)
  if (customer === undefined && !customers) {
    const walk = (columns: SQL) =>
      sql`SELECT ${columns} FROM ${billingObjects} ${o} INDEXED BY ${index} WHERE ${and(ofKind, changed)}`
    return counted(db, totalOf({ walk, as: o, columns: COLUMNS, rest }))
  }
  const few = fewOf(ofKind, by)
  // The index by customer says neither the mode nor the last change, nor which purchases are shown.
  if (!few || kind === 'purchase' || livemode !== undefined || updated_after !== undefined) return null
  return counted(db, sql`iif(${ARE_FEW}, (SELECT count(*) FROM (${few.all}) ${o} WHERE ${rest}), NULL)`, few.size)
}

function counted(db: Db, n: SQL, before = sql``): Query<Total[]> {
  return raw(db, { n: n as SQL<number | null> }, (fields) => sql`${before} SELECT ${fields}`)
}
