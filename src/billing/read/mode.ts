import { type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { saidBy } from '../overdue/overdue'
import { billingObjects } from '../schema'

type Columns = Record<'project_id' | 'kind' | 'updated' | 'vendor_id' | 'vendor' | 'candidates', Column>

/** Whether an object is of test mode. One whose mode is not known is live. The index `billing_test` has no others. */
export const isTest = (of: Pick<Columns, 'candidates'>): SQL => sql`${saidBy(of, 'livemode')} = 0`

const test = alias(billingObjects, 'test')

/** The opposite, asked of the index: the objects themselves are not read. */
export const isLive = (of: Columns): SQL => sql`NOT EXISTS (
  SELECT 1 FROM ${billingObjects} ${test} INDEXED BY billing_test
  WHERE ${test.project_id} = ${of.project_id} AND ${test.kind} = ${of.kind} AND ${test.updated} = ${of.updated}
    AND ${test.vendor_id} = ${of.vendor_id} AND ${test.vendor} = ${of.vendor} AND ${isTest(test)})`
