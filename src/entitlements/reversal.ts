import { type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { moneyBack } from '../billing/purchases/columns'
import { billingObjects } from '../billing/schema'
import { literals } from '../db/sql'
import { projects } from '../tenancy/schema'
import type { Json } from '../vendors/lib/json'
import { isBack, MONEY_ON_INVOICES } from '../vendors/purchase'
import { MAX_INVOICES_LOOKED_AT } from './limits'
import type { Reversal } from './window'

const p = alias(projects, 'p')
const v = alias(billingObjects, 'v')
const money = alias(billingObjects, 'money')

/** The newest paid invoice of a subscription, with what came back of it. `amount`: what was paid. */
export type PaidInvoice = {
  amount: number
  refunded_amount: number | null
  refunds: Json[] | null
  disputes: Json[] | null
}

/** Vendors' words for what an invoice bills that is no period of the subscription. What is billed in between decides nothing. */
const BETWEEN_PERIODS = ['subscription_update', 'subscription_charge', 'subscription_payment_method_change', 'manual']

/**
 * The newest paid invoice of each subscription of the customers in `own`, as the table `paid`: without rows unless the project's setting
 * `subscription_reversed` needs them. If the customers have more than {@link MAX_INVOICES_LOOKED_AT} invoices, there are none, because the newest
 * one may not be among those that were looked at. An invoice that cost nothing decides nothing.
 *
 * @param how.reversed whether they are read whatever the setting is
 * @param how.at only invoices that were paid until this time (ISO 8601 UTC); null: all
 */
export function paidInvoices(projectId: string, { at, reversed }: { at: string | null; reversed: boolean }): SQL {
  const ends = reversed
    ? sql`1`
    : sql`(SELECT ${p.settings}->>'subscription_reversed' FROM ${projects} ${p} WHERE ${p.id} = ${projectId}) = 'end'`
  const field = (name: string) => sql`${v.candidates}->>${sql.raw(`'$[0].body.${name}'`)}`
  const paid_at = sql`rtrim(coalesce(${field('paid_at')}, ${field('created_at')}, ${field('updated_at')}), 'Z')`
  const isPaid = sql`${v.status} = 'paid' AND ${v.subscription} IS NOT NULL`
  const of = (value: SQL) => sql`CASE WHEN ${isPaid} THEN ${value} END`
  const ofPeriod = sql`amount > 0 AND coalesce(reason NOT IN (${literals(BETWEEN_PERIODS)}), 1)`
  const until = at === null ? sql`1` : sql`paid_at <= ${at.replace('Z', '')}`
  return sql`ends AS MATERIALIZED (SELECT 1 WHERE ${ends}),
    invoices AS MATERIALIZED (
      SELECT ${v.vendor} AS vendor, ${v.vendor_id} AS id, ${v.subscription} AS subscription,
        ${of(sql`coalesce(${field('amount_paid')}, ${field('total')})`)} AS amount, ${of(paid_at)} AS paid_at, ${of(field('billing_reason'))} AS reason
      FROM ends CROSS JOIN own c
        CROSS JOIN ${billingObjects} ${v} INDEXED BY billing_customer ON c.vendor IN (${literals(MONEY_ON_INVOICES)}) AND ${v.project_id} = ${projectId} AND ${v.kind} = 'invoice'
          AND ${v.customer} IS NOT NULL AND ${v.customer} = c.customer AND ${v.vendor} = c.vendor
      LIMIT ${MAX_INVOICES_LOOKED_AT + 1}),
    paid AS MATERIALIZED (
      SELECT vendor, id, subscription, amount FROM (
        SELECT *, row_number() OVER (PARTITION BY vendor, subscription ORDER BY paid_at DESC, id DESC) AS nth
        FROM invoices WHERE ${ofPeriod} AND ${until})
      WHERE nth = 1 AND (SELECT count(*) FROM invoices) <= ${MAX_INVOICES_LOOKED_AT})`
}

/** The row of {@link paidInvoices} of a subscription, as JSON; null if there is none. @param b the subscription */
export function newestPaid(projectId: string, b: Record<'kind' | 'vendor_id' | 'vendor', Column>): SQL {
  const isItsMoney = sql`${money.project_id} = ${projectId} AND ${money.kind} = 'purchase' AND ${money.vendor_id} = n.id AND ${money.vendor} = n.vendor`
  return sql`CASE WHEN ${b.kind} = 'subscription' THEN (
    SELECT json_object('amount', n.amount, ${moneyBack(money)}) FROM paid n LEFT JOIN ${billingObjects} ${money} ON ${isItsMoney}
    WHERE n.vendor = ${b.vendor} AND n.subscription = ${b.vendor_id}) END`
}

/** What took back the payment of an invoice: a dispute that is lost, or refunds of all of it. */
export function reversalOf(invoice: PaidInvoice | null): Reversal | null {
  const dispute = invoice?.disputes?.findLast(({ state }) => state === 'lost')
  if (dispute)
    return {
      why: 'disputed',
      said: `The dispute ${dispute.id} over its last payment was lost.`,
      event_id: String(dispute.event_id),
    }
  if (!invoice || (invoice.refunded_amount ?? 0) < invoice.amount) return null
  const refund = invoice.refunds?.findLast(({ status }) => isBack(status))
  const by = refund ? ` by refund ${refund.id}` : ''
  return {
    why: 'refunded',
    said: `Its last payment was refunded in full${by}.`,
    event_id: refund ? String(refund.event_id) : null,
  }
}

/**
 * The same at a time in the past (ms): without what came back later.
 *
 * @returns `isKnown`: false if what had come back may have changed since
 */
export function invoiceAt(invoice: PaidInvoice | null, at: number): { invoice: PaidInvoice | null; isKnown: boolean } {
  if (!invoice) return { invoice, isKnown: true }
  const back = [...(invoice.refunds ?? []), ...(invoice.disputes ?? [])]
  const isNoneYet = back.every(({ created_at }) => typeof created_at === 'string' && Date.parse(created_at) > at)
  const hasOthers = back.length === 0 && (invoice.refunded_amount ?? 0) > 0
  return isNoneYet && !hasOthers ? { invoice: null, isKnown: true } : { invoice, isKnown: false }
}
