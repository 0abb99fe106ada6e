import { type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { moneyBack } from '../billing/purchases/columns'
import { billingObjects } from '../billing/schema'
import { projects } from '../tenancy/schema'
import type { Json } from '../vendors/lib/json'
import { isBack } from '../vendors/purchase'
import { MAX_INVOICES_LOOKED_AT } from './limits'
import type { Reversal } from './window'

const p = alias(projects, 'p')
const v = alias(billingObjects, 'v')
const money = alias(billingObjects, 'money')

/** The newest paid invoice of a subscription, with what came back of it. `amount`: what was paid. */
export type PaidInvoice = {
  amount: number | null
  paid_at: string | null
  refunded_amount: number | null
  refunds: Json[] | null
  disputes: Json[] | null
}

/**
 * The newest paid invoice of a subscription, as JSON; null unless the project's setting `subscription_reversed` needs it. Of the customer's invoices,
 * up to {@link MAX_INVOICES_LOOKED_AT} are looked at.
 *
 * @param b the row of the subscription
 */
export function newestPaid(projectId: string, b: Record<'kind' | 'vendor_id' | 'vendor' | 'customer', Column>): SQL {
  const ends = sql`(SELECT ${p.settings}->>'subscription_reversed' FROM ${projects} ${p} WHERE ${p.id} = ${projectId}) = 'end'`
  const field = (name: string) => sql`${v.candidates}->>${sql.raw(`'$[0].body.${name}'`)}`
  const own = sql`SELECT * FROM ${billingObjects} ${v} INDEXED BY billing_customer WHERE ${v.project_id} = ${projectId} AND ${v.kind} = 'invoice'
    AND ${v.customer} IS NOT NULL AND ${v.customer} = ${b.customer} AND ${v.vendor} = ${b.vendor} LIMIT ${MAX_INVOICES_LOOKED_AT}`
  const newest = sql`SELECT ${v.vendor_id} AS id, ${v.vendor} AS vendor, coalesce(${field('amount_paid')}, ${field('total')}) AS amount,
      coalesce(${field('paid_at')}, ${field('created_at')}, ${field('updated_at')}) AS paid_at
    FROM (${own}) ${v} WHERE ${v.subscription} = ${b.vendor_id} AND ${v.status} = 'paid' ORDER BY paid_at DESC, id DESC LIMIT 1`
  const isItsMoney = sql`${money.project_id} = ${projectId} AND ${money.kind} = 'purchase' AND ${money.vendor_id} = n.id AND ${money.vendor} = n.vendor`
  return sql`CASE WHEN ${b.kind} = 'subscription' AND ${ends} THEN (
    SELECT json_object('amount', n.amount, 'paid_at', n.paid_at, ${moneyBack(money)})
    FROM (${newest}) n LEFT JOIN ${billingObjects} ${money} ON ${isItsMoney}) END`
}

/** What took back the payment of an invoice: a dispute that is lost, or refunds of all of it. */
export function reversalOf(invoice: PaidInvoice | null): Reversal | null {
  const dispute = invoice?.disputes?.findLast(({ state }) => state === 'lost')
  if (dispute)
    return {
      why: 'disputed',
      said: `The dispute ${dispute.id} of its last invoice is lost.`,
      event_id: String(dispute.event_id),
    }
  if (!invoice?.amount || (invoice.refunded_amount ?? 0) < invoice.amount) return null
  const refund = invoice.refunds?.findLast(({ status }) => isBack(status))
  const by = refund ? ` by refund ${refund.id}` : ''
  return {
    why: 'refunded',
    said: `Its last invoice was returned in full${by}.`,
    event_id: refund ? String(refund.event_id) : null,
  }
}

/**
 * The same at a time in the past (ms): without what came back later.
 *
 * @returns `isKnown`: false if an earlier invoice was the newest one, or if what had come back may have changed since
 */
export function invoiceAt(invoice: PaidInvoice | null, at: number): { invoice: PaidInvoice | null; isKnown: boolean } {
  if (!invoice) return { invoice, isKnown: true }
  if (isAfter(invoice.paid_at, at)) return { invoice: null, isKnown: false }
  const back = [...(invoice.refunds ?? []), ...(invoice.disputes ?? [])]
  const isNoneYet = back.every(({ created_at }) => isAfter(created_at, at))
  const hasOthers = back.length === 0 && (invoice.refunded_amount ?? 0) > 0
  return isNoneYet && !hasOthers ? { invoice: null, isKnown: true } : { invoice, isKnown: false }
}

const isAfter = (time: unknown, at: number) => typeof time === 'string' && Date.parse(time) > at
