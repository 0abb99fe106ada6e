import { money } from './lib/money'
import { at, flag, idOf, integer, isObject, type Json, objects, required, text, webUrl } from './lib/read'
import { isoSeconds } from './lib/time'
import { statusOf } from './objects'
import { canonical, type Snapshot, STEPS, type Step, undo } from './snapshot'
import type { StateKind } from './vendor'

/** Stripe's objects as billing state, for API versions before and after 2025-03-31 (basil). */
export function stripeSnapshot(event: Json, object: Json, kind: StateKind): Snapshot {
  const type = String(event.type)
  const previous = at(event, 'data', 'previous_attributes')
  const base = {
    id: required(object.id, 'data.object.id'),
    occurred_at: isoSeconds(event.created),
    updated_at: null,
    step: stepOf(type),
    after: canonical(object),
    before: isObject(previous) ? canonical(undo(object, previous)) : null,
  }
  const common = {
    customer: idOf(object.customer),
    vendor_status: text(object.status),
    livemode: flag(event.livemode),
    updated_at: base.occurred_at,
  }
  if (kind === 'subscription') return { kind, ...base, ...subscription(object, common) }
  if (kind === 'invoice') return { kind, ...base, ...invoice(type, object, common) }
  return { kind, ...base, ...paymentMethod(object, previous, common) }
}

function stepOf(type: string): Step {
  const what = type.slice(type.lastIndexOf('.') + 1)
  if (what === 'created' || what === 'attached') return STEPS.created
  return what === 'deleted' || what === 'detached' ? STEPS.deleted : STEPS.updated
}

type Common = {
  customer: string | null
  vendor_status: string | null
  livemode: boolean | null
  updated_at: string | null
}

const SUBSCRIPTION = {
  trialing: 'trialing',
  active: 'active',
  past_due: 'past_due',
  unpaid: 'unpaid',
  paused: 'paused',
  incomplete: 'incomplete',
  incomplete_expired: 'incomplete_expired',
  canceled: 'canceled',
} as const

function subscription(object: Json, common: Common) {
  const status = statusOf(common.vendor_status, SUBSCRIPTION)
  const items = objects(at(object, 'items', 'data'))
  const period = periodOf(object, items)
  const body = {
    ...common,
    status,
    currency: text(object.currency)?.toUpperCase() ?? currencyOf(items),
    items: items.map((item) => ({
      id: text(item.id),
      price: idOf(item.price) ?? idOf(item.plan),
      product: idOf(at(item, 'price', 'product')) ?? idOf(at(item, 'plan', 'product')),
      quantity: integer(item.quantity),
    })),
    current_period_start: period.start,
    current_period_end: period.end,
    trial_end: isoSeconds(object.trial_end),
    cancel_at: isoSeconds(object.cancel_at),
    cancel_at_period_end: flag(object.cancel_at_period_end),
    canceled_at: isoSeconds(object.canceled_at),
    ended_at: isoSeconds(object.ended_at),
    default_payment_method: idOf(object.default_payment_method),
    scheduled_change: null,
  }
  return { body, terminal: status === 'canceled' || status === 'incomplete_expired' }
}

/** On the subscription in older versions, on each item in newer ones: of those, the period that ends first. */
function periodOf(object: Json, items: readonly Json[]): { start: string | null; end: string | null } {
  const ends = ({ current_period_end: end }: Json) => (typeof end === 'number' ? end : Number.POSITIVE_INFINITY)
  const from = isoSeconds(object.current_period_end) ? object : [...items].sort((a, b) => ends(a) - ends(b) || 0)[0]
  return { start: isoSeconds(from?.current_period_start), end: isoSeconds(from?.current_period_end) }
}

function currencyOf(items: readonly Json[]): string | null {
  return text(at(items, 0, 'price', 'currency'))?.toUpperCase() ?? null
}

const INVOICE = {
  draft: 'draft',
  open: 'open',
  paid: 'paid',
  void: 'void',
  uncollectible: 'uncollectible',
  deleted: 'deleted',
} as const

function invoice(type: string, object: Json, common: Common) {
  // No published status is "deleted": the snapshot may be the draft that was deleted.
  const status = type === 'invoice.deleted' ? 'deleted' : statusOf(common.vendor_status, INVOICE)
  const amount = (value: unknown) => money(value, object.currency)?.value ?? null
  const body = {
    ...common,
    status,
    number: text(object.number),
    subscription: idOf(at(object, 'parent', 'subscription_details', 'subscription')) ?? idOf(object.subscription),
    currency: text(object.currency)?.toUpperCase() ?? null,
    total: amount(object.total),
    amount_due: amount(object.amount_due),
    amount_paid: amount(object.amount_paid),
    period_start: isoSeconds(object.period_start),
    period_end: isoSeconds(object.period_end),
    due_date: isoSeconds(object.due_date),
    next_payment_attempt: isoSeconds(object.next_payment_attempt),
    hosted_invoice_url: webUrl(object.hosted_invoice_url),
  }
  return { body, terminal: status === 'paid' || status === 'void' || status === 'deleted' }
}

/** Attached exactly while it has a customer. When it is detached, the customer is only in the previous attributes. */
function paymentMethod(object: Json, previous: unknown, common: Common) {
  const card = object.card
  const body = {
    ...common,
    customer: common.customer ?? idOf(at(previous, 'customer')),
    status: common.customer === null ? ('detached' as const) : ('attached' as const),
    type: text(object.type),
    card: isObject(card)
      ? {
          brand: text(card.brand),
          last4: text(card.last4),
          exp_month: integer(card.exp_month),
          exp_year: integer(card.exp_year),
        }
      : null,
  }
  return { body, terminal: false }
}
