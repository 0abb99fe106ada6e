import { type CustomerClaim, claimedValues, claimsOf } from './claim'
import { kindOfType } from './gocardless-api'
import { boundedMetadata, postalAddress, prose, upperCurrency, word } from './lib/bounded'
import { at, integer, isObject, type Json, text } from './lib/json'
import { moneyIn } from './lib/money'
import { required } from './lib/read'
import { isoMillis, isoTime, millisOf, startOfDay } from './lib/time'
import { knownStatus } from './objects'
import { itemsOfMetadata } from './purchase-parts'
import { EVENT_STEPS, type Made, type Snapshot } from './snapshot'
import { blank, type From, fullName, itemWith, wholeSnapshot } from './whole'

/**
 * An object of GoCardless's API as billing state. It has no time of its last change.
 *
 * @param type GoCardless's name of what it is
 * @param when the time of the answer, as the fetch noted it
 * @param itemKeys as in {@link itemsOfMetadata}
 */
export function gocardlessSnapshot(
  type: string,
  object: Json,
  when: string | null,
  itemKeys: readonly string[],
): Snapshot[] {
  const kind = kindOfType(type)
  const cut = { any: false }
  const common = {
    customer: word(object.customer),
    vendor_status: word(object.status),
    livemode: null,
    created_at: isoTime(object.created_at),
    updated_at: when,
    metadata: boundedMetadata(object.metadata, cut),
  }
  const from = { type, object, common, cut }
  const of = {
    id: required(object.id, 'id'),
    when: { version: null, occurred_at: when, updated_at: null, step: EVENT_STEPS.updated },
  }
  if (kind === 'subscription') return [wholeSnapshot({ kind, ...of }, subscription(from, itemKeys), cut)]
  if (kind === 'invoice') return [wholeSnapshot({ kind, ...of }, invoice(from), cut)]
  if (kind === 'customer') return [wholeSnapshot({ kind, ...of }, customer(from), cut)]
  return []
}

const SUBSCRIPTION = {
  pending_customer_approval: 'incomplete',
  customer_approval_denied: 'incomplete_expired',
  active: 'active',
  paused: 'paused',
  // All of its payments are made, and the last one pays for some time to come.
  finished: 'active',
  cancelled: 'canceled',
} as const

/**
 * It has no price, which the project's server writes into its metadata, and no periods: only the dates of payments to come.
 * https://developer.gocardless.com/api-reference/#core-endpoints-subscriptions
 */
function subscription({ object, common }: From, itemKeys: readonly string[]): Made<'subscription'> {
  const end = common.vendor_status === 'finished' ? endOf(object) : null
  const known = knownStatus(common.vendor_status, SUBSCRIPTION)
  const status = common.vendor_status === 'finished' && end === null ? 'canceled' : known
  const unit = text(object.interval_unit)
  const currency = upperCurrency(object.currency)
  const [sold] = itemsOfMetadata(object.metadata, itemKeys) ?? []
  const quantity = sold?.quantity ?? 1
  // Its amount is for all units together.
  const amount = quantity === 1 ? (moneyIn(object.amount, currency)?.value ?? null) : null
  const body = {
    ...blank('subscription'),
    ...common,
    status,
    description: prose(object.name),
    currency,
    items: [
      itemWith({
        price: sold?.price ?? null,
        price_name: prose(object.name),
        product: sold?.product ?? null,
        quantity,
        amount,
        currency,
        interval: unit !== null && Object.hasOwn(UNITS, unit) ? (UNITS[unit] ?? null) : null,
        interval_count: integer(object.interval),
      }),
    ],
    started_at: startOfDay(object.start_date),
    next_billed_at: startOfDay(at(object, 'upcoming_payments', 0, 'charge_date')),
    cancel_at: end,
    default_payment_method: word(at(object, 'links', 'mandate')),
  }
  return { body, terminal: false }
}

const UNITS: Readonly<Record<string, string>> = { weekly: 'week', monthly: 'month', yearly: 'year' }

/** Until when the payments of a finished subscription pay: its end date, or after so many intervals. Null if it has neither. */
function endOf({ start_date, end_date, count, interval, interval_unit }: Json): string | null {
  const start = millisOf(startOfDay(start_date))
  const n = (integer(count) ?? 0) * (integer(interval) ?? 0)
  if (startOfDay(end_date) !== null || start === null || n <= 0) return startOfDay(end_date)
  const end = new Date(start)
  if (interval_unit === 'weekly') end.setUTCDate(end.getUTCDate() + 7 * n)
  else if (interval_unit === 'monthly') end.setUTCMonth(end.getUTCMonth() + n)
  else if (interval_unit === 'yearly') end.setUTCFullYear(end.getUTCFullYear() + n)
  else return null
  return isoMillis(end.getTime())
}

const INVOICE = {
  pending_customer_approval: 'open',
  pending_submission: 'open',
  submitted: 'open',
  confirmed: 'paid',
  paid_out: 'paid',
  cancelled: 'void',
  customer_approval_denied: 'void',
  failed: 'uncollectible', // until it is retried
  charged_back: 'uncollectible',
} as const

/** A payment. A bank can say long after it was confirmed that it has failed: no state is final. */
function invoice({ object, common }: From): Made<'invoice'> {
  const status = knownStatus(common.vendor_status, INVOICE)
  const currency = upperCurrency(object.currency)
  const total = moneyIn(object.amount, currency)?.value ?? null
  const isPaid = status === 'paid'
  const body = {
    ...blank('invoice'),
    ...common,
    status,
    number: word(object.reference),
    description: prose(object.description),
    subscription: word(at(object, 'links', 'subscription')),
    currency,
    total,
    amount_due: total,
    amount_paid: isPaid ? total : status === 'unknown' ? null : 0,
    amount_remaining: isPaid || status === 'void' ? 0 : status === 'unknown' ? null : total,
    due_at: startOfDay(object.charge_date),
    default_payment_method: word(at(object, 'links', 'mandate')),
  }
  return { body, terminal: false }
}

function customer({ object, common }: From): Made<'customer'> {
  const { address_line1: line1, address_line2: line2, region: state, country_code: country } = object
  const body = {
    ...blank('customer'),
    ...common,
    customer: null, // it is the customer
    status: 'active' as const,
    email: word(object.email),
    name: prose(fullName(object.given_name, object.family_name) ?? object.company_name),
    phone: word(object.phone_number),
    address: postalAddress({ line1, line2, state, country, city: object.city, postal_code: object.postal_code }),
    locale: word(object.language),
  }
  return { body, terminal: false }
}

/** Only the project's server writes metadata. That of a subscription is of one purchase, so the customer's own counts more. */
export function gocardlessClaims({ resource_type, data }: Json, keys: readonly string[]): CustomerClaim[] {
  if (!isObject(data)) return []
  const values = claimedValues(data.metadata, keys)
  if (resource_type === 'customers') return claimsOf(text(data.id), values, 'customer')
  return resource_type === 'subscriptions' ? claimsOf(text(data.customer), values, 'checkout') : []
}
