import type { StateKind } from './kinds'
import { boundedMetadata, type Cut, fittedBody, word, wordOf } from './lib/bounded'
import { at, flag, type Json } from './lib/json'
import { required } from './lib/read'
import { isoSeconds } from './lib/time'
import type { Snapshot } from './snapshot'
import { customer, paymentMethod } from './stripe-customer'
import { invoice } from './stripe-invoice'
import { isAnnouncing, isInvoiceReport, orderOf, type Stripe } from './stripe-shared'
import { subscription } from './stripe-subscription'

/** Stripe's objects as billing state, for API versions before and after 2025-03-31 (basil). */
export function stripeSnapshot(event: Json, object: Json, kind: StateKind): Snapshot {
  const type = String(event.type)
  const previous = at(event, 'data', 'previous_attributes')
  const cut: Cut = { any: false }
  const order = orderOf(event, object)
  const base = {
    id: required(object.id, 'data.object.id'),
    version: null,
    ...order,
    before: order.before ?? (isAnnouncing(type) ? order.after : null),
    reports: kind === 'invoice' && isInvoiceReport(type, previous),
  }
  const common = {
    customer: wordOf(object.customer),
    vendor_status: word(object.status),
    livemode: flag(event.livemode),
    // Invoices of versions before 2019-03-14 say `date`.
    created_at: isoSeconds(object.created) ?? isoSeconds(object.date),
    updated_at: base.occurred_at,
    metadata: boundedMetadata(object.metadata, cut),
  }
  const made = madeOf(kind, { type, object, previous, common, cut })
  // The last step, because it may cut more.
  const body = fittedBody(made.body, cut)
  return { ...base, ...made, body, incomplete: cut.any } as Snapshot
}

function madeOf(kind: StateKind, from: Stripe) {
  if (kind === 'subscription') return { kind, ...subscription(from) }
  if (kind === 'invoice') return { kind, ...invoice(from) }
  return kind === 'customer' ? { kind, ...customer(from) } : { kind, ...paymentMethod(from) }
}
