import type { StateKind } from './kinds'
import { boundedMetadata, type Cut, fittedBody, word, wordOf } from './lib/bounded'
import { at, flag, isObject, type Json, without } from './lib/json'
import { required } from './lib/read'
import { isoSeconds } from './lib/time'
import { canonical, EVENT_STEPS, type EventStep, type Snapshot, undo } from './snapshot'
import { customer, paymentMethod } from './stripe-customer'
import { invoice } from './stripe-invoice'
import type { Stripe } from './stripe-shared'
import { subscription } from './stripe-subscription'

/** Stripe's objects as billing state, for API versions before and after 2025-03-31 (basil). */
export function stripeSnapshot(event: Json, object: Json, kind: StateKind): Snapshot {
  const type = String(event.type)
  const previous = at(event, 'data', 'previous_attributes')
  const cut: Cut = { any: false }
  const after = canonical(without(object, ...AFRESH))
  const base = {
    id: required(object.id, 'data.object.id'),
    version: null,
    occurred_at: isoSeconds(event.created),
    updated_at: null,
    step: stepOf(type),
    after,
    before: beforeOf(object, previous) ?? (ANNOUNCING.has(type) ? after : null),
    reports: kind === 'invoice' && !CHANGING.has(type) && !ANNOUNCING.has(type) && !isObject(previous),
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

/** Fields of an invoice that differ between two events though nothing has changed: links are signed for each event. */
const AFRESH = ['hosted_invoice_url', 'invoice_pdf', 'webhooks_delivered_at']

/**
 * Events that change nothing: the object was the same before them. `invoice.upcoming` is another one, of an invoice that
 * has no id yet.
 * https://docs.stripe.com/api/events/types
 */
const ANNOUNCING: ReadonlySet<string> = new Set([
  'customer.subscription.trial_will_end',
  'invoice.will_be_due',
  'invoice.overdue',
  'invoice.sent',
])

/** The events that change an invoice. Others report what happened to it, mostly together with an update. */
const CHANGING: ReadonlySet<string> = new Set(['invoice.created', 'invoice.updated', 'invoice.deleted'])

function beforeOf(object: Json, previous: unknown): string | null {
  if (!isObject(previous)) return null
  return canonical(without(undo(object, previous) as Json, ...AFRESH))
}

function stepOf(type: string): EventStep {
  const what = type.slice(type.lastIndexOf('.') + 1)
  if (what === 'created' || what === 'attached') return EVENT_STEPS.created
  return what === 'deleted' || what === 'detached' ? EVENT_STEPS.deleted : EVENT_STEPS.updated
}
