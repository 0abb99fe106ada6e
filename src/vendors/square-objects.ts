import type { StateKind } from './kinds'
import { type Cut, link, postalAddress, prose, upperCurrency, word } from './lib/bounded'
import { at, integer, isObject, type Json, objects, text } from './lib/json'
import { moneyIn } from './lib/money'
import { required } from './lib/read'
import { endOfDay, isoTime, startOfDay } from './lib/time'
import { versionOf } from './lib/version'
import { knownStatus } from './objects'
import { EVENT_STEPS, type EventStep, type Made, type Snapshot } from './snapshot'
import { blank, type From, fullName, itemWith, type When, wholeSnapshot } from './whole'

/** An event's object, the id that the event gives it, and its mode, which is only in a header. */
export type SquareObject = { id: unknown; object: Json; kind: StateKind; livemode: boolean | null }

/** Square's objects as billing state. The version orders them. Square does not send what an object was before. */
export function squareSnapshot(event: Json, { id: named, object, kind, livemode }: SquareObject): Snapshot {
  const cut: Cut = { any: false }
  const type = String(event.type)
  const occurred_at = isoTime(event.created_at)
  const common = {
    customer: word(object.customer_id) ?? word(at(object, 'primary_recipient', 'customer_id')),
    vendor_status: word(object.status),
    livemode,
    created_at: isoTime(object.created_at) ?? startOfDay(object.created_date),
    updated_at: occurred_at,
    metadata: null,
  }
  const when: When = { version: versionOf(object.version), occurred_at, updated_at: null, step: stepOf(type) }
  const id = required(named ?? object.id, 'data.id')
  const from = { type, object, common, cut }
  if (kind === 'subscription') return wholeSnapshot({ kind, id, when }, subscription(from), cut)
  if (kind === 'invoice') return wholeSnapshot({ kind, id, when }, invoice(from), cut)
  if (kind === 'customer') return wholeSnapshot({ kind, id, when }, customer(from), cut)
  return wholeSnapshot({ kind, id, when }, card(from), cut)
}

function stepOf(type: string): EventStep {
  if (type.endsWith('.created')) return EVENT_STEPS.created
  return type.endsWith('.deleted') || type === 'card.disabled' ? EVENT_STEPS.deleted : EVENT_STEPS.updated
}

const SUBSCRIPTION = {
  PENDING: 'scheduled',
  ACTIVE: 'active',
  PAUSED: 'paused',
  CANCELED: 'canceled',
  DEACTIVATED: 'canceled',
  COMPLETED: 'canceled',
} as const

/**
 * Square gives days without a time: they count in UTC.
 * https://developer.squareup.com/reference/square/objects/Subscription
 */
function subscription({ object, common }: From): Made<'subscription'> {
  const status = knownStatus(common.vendor_status, SUBSCRIPTION)
  const end = endOfDay(object.charged_through_date)
  const canceled = endOfDay(object.canceled_date)
  const isOver = status === 'canceled'
  const price = object.price_override_money
  const body = {
    ...blank('subscription'),
    ...common,
    status,
    currency: upperCurrency(at(price, 'currency')),
    items: [
      itemWith({
        // The older name is of subscriptions from before plans had variations.
        price: word(object.plan_variation_id) ?? word(object.plan_id),
        quantity: 1,
        amount: moneyIn(at(price, 'amount'), at(price, 'currency'))?.value ?? null,
        currency: upperCurrency(at(price, 'currency')),
      }),
    ],
    current_period_end: end,
    started_at: startOfDay(object.start_date),
    cancel_at: isOver ? null : canceled,
    cancel_at_period_end: isOver ? false : canceled !== null && canceled === end,
    ended_at: isOver ? canceled : null,
    latest_invoice: word(at(object, 'invoice_ids', 0)),
    default_payment_method: word(object.card_id),
  }
  return { body, terminal: false }
}

const INVOICE = {
  DRAFT: 'draft',
  UNPAID: 'open',
  SCHEDULED: 'open',
  PARTIALLY_PAID: 'open',
  PAYMENT_PENDING: 'open',
  PAID: 'paid',
  PARTIALLY_REFUNDED: 'paid',
  REFUNDED: 'paid',
  CANCELED: 'void',
  FAILED: 'void',
} as const

/**
 * The event of a deleted one has only its id. Only drafts can be deleted.
 * https://developer.squareup.com/reference/square/objects/Invoice
 */
function invoice({ type, object, common }: From): Made<'invoice'> {
  const deleted = type === 'invoice.deleted'
  const requests = objects(object.payment_requests)
  const currency = requests.map((one) => at(one, 'computed_amount_money', 'currency')).find((one) => text(one) !== null)
  const sum = (field: string) => sumOf(requests.map((one) => one[field]))
  const total = sum('computed_amount_money')
  const paid = sum('total_completed_amount_money')
  const due = requests.map((one) => endOfDay(one.due_date)).filter((one) => one !== null)
  const recipient = object.primary_recipient
  const body = {
    ...blank('invoice'),
    ...common,
    status: deleted ? ('deleted' as const) : knownStatus(common.vendor_status, INVOICE),
    number: word(object.invoice_number),
    description: prose(object.title) ?? prose(object.description),
    subscription: word(object.subscription_id),
    currency: upperCurrency(currency),
    total,
    amount_due: total,
    amount_paid: paid,
    amount_remaining: total !== null && paid !== null ? total - paid : null,
    due_at: due.sort().at(-1) ?? null,
    hosted_url: link(object.public_url),
    customer_email: word(at(recipient, 'email_address')),
    customer_name: prose(fullName(at(recipient, 'given_name'), at(recipient, 'family_name'))),
    customer_address: addressOf(at(recipient, 'address')),
  }
  return { body, terminal: deleted }
}

/** Amounts added up; null if there is none, or one of them is no amount. */
function sumOf(amounts: readonly unknown[]): number | null {
  const sum = amounts.reduce<number>(
    (total, one) => total + (moneyIn(at(one, 'amount'), at(one, 'currency'))?.value ?? Number.NaN),
    0,
  )
  return amounts.length > 0 && Number.isSafeInteger(sum) ? sum : null
}

/** https://developer.squareup.com/reference/square/objects/Card */
function card({ type, object, common }: From): Made<'payment_method'> {
  const address = addressOf(object.billing_address)
  const name = prose(object.cardholder_name)
  const last4 = word(object.last_4)
  const body = {
    ...blank('payment_method'),
    ...common,
    status: object.enabled === false || type === 'card.forgotten' ? ('detached' as const) : ('attached' as const),
    type: 'card',
    card: {
      brand: word(object.card_brand),
      last4,
      exp_month: integer(object.exp_month),
      exp_year: integer(object.exp_year),
      funding: word(object.card_type)?.toLowerCase() ?? null,
      country: null,
      fingerprint: word(object.fingerprint),
    },
    last4,
    billing_details: name === null && address === null ? null : { name, email: null, phone: null, address },
  }
  return { body, terminal: false }
}

/** https://developer.squareup.com/reference/square/objects/Customer */
function customer({ type, object, common }: From): Made<'customer'> {
  const body = {
    ...blank('customer'),
    ...common,
    customer: null, // it is the customer
    status: type === 'customer.deleted' ? ('deleted' as const) : ('active' as const),
    email: word(object.email_address),
    name: prose(fullName(object.given_name, object.family_name) ?? object.company_name),
    phone: word(object.phone_number),
    description: prose(object.note),
    address: addressOf(object.address),
  }
  return { body, terminal: false }
}

function addressOf(value: unknown) {
  if (!isObject(value)) return null
  return postalAddress({
    line1: value.address_line_1,
    line2: value.address_line_2,
    city: value.locality,
    state: value.administrative_district_level_1,
    postal_code: value.postal_code,
    country: value.country,
  })
}
