import type { boundedMetadata, Cut } from './lib/bounded'
import { at, isObject, type Json, without } from './lib/json'
import { isoSeconds } from './lib/time'
import { canonical, EVENT_STEPS, type EventStep, undo } from './snapshot'

/** What the functions for each kind get. `previous`: the values that the event's change replaced. */
export type Stripe = {
  type: string
  object: Json
  previous: unknown
  common: Common
  /** Set where a list is not whole. */
  cut: Cut
}

type Common = {
  customer: string | null
  vendor_status: string | null
  livemode: boolean | null
  created_at: string | null
  updated_at: string | null
  metadata: ReturnType<typeof boundedMetadata>
}

/** How the invoices are paid; null for an unknown word. */
export function collectionOf(value: unknown): 'charge_automatically' | 'send_invoice' | null {
  if (value === 'charge_automatically') return value
  return value === 'send_invoice' ? value : null
}

/** Fields that differ between two events though nothing has changed: links are signed for each event. */
const AFRESH = ['hosted_invoice_url', 'invoice_pdf', 'receipt_url', 'webhooks_delivered_at']

/** What orders the states of an event's object: see snapshot.ts. */
export function orderOf(event: Json, object: Json) {
  const previous = at(event, 'data', 'previous_attributes')
  return {
    occurred_at: isoSeconds(event.created),
    updated_at: null,
    step: stepOf(String(event.type)),
    after: canonical(without(object, ...AFRESH)),
    before: isObject(previous) ? canonical(without(undo(object, previous) as Json, ...AFRESH)) : null,
  }
}

function stepOf(type: string): EventStep {
  const what = type.slice(type.lastIndexOf('.') + 1)
  if (what === 'created' || what === 'attached') return EVENT_STEPS.created
  return what === 'deleted' || what === 'detached' ? EVENT_STEPS.deleted : EVENT_STEPS.updated
}

/** The events that change an invoice. Others report what happened to it, mostly together with an update. */
const CHANGING: ReadonlySet<string> = new Set(['invoice.created', 'invoice.updated', 'invoice.deleted'])

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

/** Whether an event changes nothing. */
export const isAnnouncing = (type: string): boolean => ANNOUNCING.has(type)

/** Whether an event of an invoice reports a change that another event of the same second makes, where there is one. */
export function isInvoiceReport(type: string, previous: unknown): boolean {
  return !CHANGING.has(type) && !ANNOUNCING.has(type) && !isObject(previous)
}
