import { money } from './lib/money'
import { at, integer, isId, isObject, type Json, objects, required, text } from './lib/read'
import { isoTime } from './lib/time'
import { MAX_CARDS } from './limits'
import type { PaymentCardBody } from './objects'
import { statusOf } from './objects'
import { canonical, type Snapshot, STEPS, type Step } from './snapshot'
import type { StateKind } from './vendor'

/** Paddle Billing's entities as billing state. Paddle does not send what an entity was before. */
export function paddleSnapshots(event: Json, data: Json, kind: StateKind): Snapshot[] {
  const base = {
    id: required(data.id, 'data.id'),
    occurred_at: isoTime(event.occurred_at),
    updated_at: isoTime(data.updated_at),
    step: stepOf(String(event.event_type)),
    after: canonical(data),
    before: null,
  }
  const common = {
    customer: text(data.customer_id),
    vendor_status: text(data.status),
    livemode: null,
    updated_at: base.occurred_at,
  }
  if (kind === 'subscription') return [{ kind, ...base, ...subscription(data, common) }]
  if (kind === 'invoice') return [{ kind, ...base, ...invoice(data, common) }, ...cards(data, base.occurred_at)]
  return [{ kind, ...base, ...paymentMethod(String(event.event_type), data, common) }]
}

function stepOf(type: string): Step {
  const what = type.slice(type.lastIndexOf('.') + 1)
  if (what === 'created' || what === 'saved') return STEPS.created
  return what === 'deleted' ? STEPS.deleted : STEPS.updated
}

type Common = { customer: string | null; vendor_status: string | null; livemode: null; updated_at: string | null }

const SUBSCRIPTION = {
  active: 'active',
  canceled: 'canceled',
  past_due: 'past_due',
  paused: 'paused',
  trialing: 'trialing',
} as const

function subscription(data: Json, common: Common) {
  const status = statusOf(common.vendor_status, SUBSCRIPTION)
  const items = objects(data.items)
  const end = isoTime(at(data, 'current_billing_period', 'ends_at'))
  const change = scheduledChange(data.scheduled_change)
  const cancelAt = change?.action === 'cancel' ? change.effective_at : null
  const body = {
    ...common,
    status,
    currency: text(data.currency_code)?.toUpperCase() ?? null,
    items: items.map((item) => ({
      id: null,
      price: text(at(item, 'price', 'id')),
      product: text(at(item, 'product', 'id')) ?? text(at(item, 'price', 'product_id')),
      quantity: integer(item.quantity),
    })),
    current_period_start: isoTime(at(data, 'current_billing_period', 'starts_at')),
    current_period_end: end,
    trial_end: items.map((item) => isoTime(at(item, 'trial_dates', 'ends_at'))).find((time) => time !== null) ?? null,
    cancel_at: cancelAt,
    cancel_at_period_end: cancelAt !== null && cancelAt === end,
    canceled_at: isoTime(data.canceled_at),
    ended_at: status === 'canceled' ? isoTime(data.canceled_at) : null,
    default_payment_method: null,
    scheduled_change: change,
  }
  return { body, terminal: status === 'canceled' }
}

function scheduledChange(value: unknown) {
  if (!isObject(value)) return null
  return {
    action: text(value.action),
    effective_at: isoTime(value.effective_at),
    resume_at: isoTime(value.resume_at),
  }
}

const TRANSACTION = {
  draft: 'draft',
  ready: 'draft',
  billed: 'open',
  past_due: 'open',
  paid: 'paid',
  completed: 'paid',
  canceled: 'void',
} as const

/** A transaction. `grand_total` is after credits and before payments; `balance` is what remains to be paid. */
function invoice(data: Json, common: Common) {
  const status = statusOf(common.vendor_status, TRANSACTION)
  const totals = at(data, 'details', 'totals')
  const currency = at(totals, 'currency_code') ?? data.currency_code
  const amount = (field: string) => money(at(totals, field), currency)?.value ?? null
  const [due, balance] = [amount('grand_total'), amount('balance')]
  const body = {
    ...common,
    status,
    number: text(data.invoice_number),
    subscription: text(data.subscription_id),
    currency: text(currency)?.toUpperCase() ?? null,
    total: amount('total'),
    amount_due: due,
    amount_paid: due !== null && balance !== null ? due - balance : null,
    period_start: isoTime(at(data, 'billing_period', 'starts_at')),
    period_end: isoTime(at(data, 'billing_period', 'ends_at')),
    due_date: null,
    next_payment_attempt: null,
    hosted_invoice_url: null,
  }
  return { body, terminal: status === 'paid' || status === 'void' }
}

function paymentMethod(type: string, data: Json, common: Common) {
  const status = type === 'payment_method.deleted' ? ('detached' as const) : ('attached' as const)
  return { body: { ...common, status, type: text(data.type), card: null }, terminal: false }
}

/** The cards that a transaction's payments were made with: the events of a payment method do not have them. */
function cards(data: Json, occurred_at: string | null): Snapshot[] {
  const latest = new Map<string, Snapshot>()
  for (const payment of objects(data.payments)) {
    const id = text(payment.payment_method_id)
    const card = at(payment, 'method_details', 'card')
    if (id === null || !isId(id) || !isObject(card)) continue
    const body: PaymentCardBody = {
      customer: null, // cards are not listed by customer: they are shown with the payment method
      status: 'seen',
      updated_at: occurred_at,
      brand: text(card.type),
      last4: text(card.last4),
      exp_month: integer(card.expiry_month),
      exp_year: integer(card.expiry_year),
    }
    const updated_at = isoTime(payment.created_at)
    const { updated_at: _, ...said } = body
    const known = latest.get(id)
    if (known && (known.updated_at ?? '') >= (updated_at ?? '')) continue
    const base = { occurred_at, updated_at, step: STEPS.updated, after: canonical(said), before: null }
    latest.set(id, { kind: 'payment_card', id, body, terminal: false, ...base })
  }
  const all = [...latest.values()]
  // No customer tries more cards than this, and the rows of all of them would be read at once.
  return all.length <= MAX_CARDS ? all : all.sort(byTime).slice(-MAX_CARDS)
}

const byTime = (a: Snapshot, b: Snapshot) => (a.updated_at ?? '').localeCompare(b.updated_at ?? '')
