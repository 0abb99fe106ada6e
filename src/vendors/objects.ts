import * as z from 'zod'
import { named } from '../http/fields'
import {
  bodyAmount as amount,
  commonFields as common,
  bodyTime as time,
  bodyUrl as url,
  bodyWhole as whole,
  bodyWord as word,
  bodyFlag as yesNo,
} from './body-fields'
import { PurchaseBody } from './purchase'

/*
 * The project's billing objects, in one vocabulary for all vendors. Times are ISO 8601 UTC in the vendor's own
 * precision; amounts are integers in the currency's minor unit, as vendors send them.
 *
 * To add a field: add it to the body here. The compiler then asks for it in the files of Stripe and Paddle; of other vendors it is null
 * (see whole.ts). The API, its OpenAPI document and the console show it; of stored objects it is null until the next event or a replay.
 */

export const SUBSCRIPTION_STATUSES = [
  'scheduled',
  'trialing',
  'active',
  'past_due',
  'unpaid',
  'paused',
  'incomplete',
  'incomplete_expired',
  'canceled',
  'unknown',
] as const
export const INVOICE_STATUSES = ['draft', 'open', 'paid', 'void', 'uncollectible', 'deleted', 'unknown'] as const
export const PAYMENT_METHOD_STATUSES = ['attached', 'detached'] as const
export const CUSTOMER_STATUSES = ['active', 'archived', 'deleted', 'unknown'] as const

const Discount = named(
  'Discount',
  z.object({
    id: word,
    coupon: word,
    promotion_code: word,
    percent_off: z.number().nullable(),
    amount_off: amount,
    currency: word,
    starts_at: time,
    ends_at: time,
  }),
)
const discounts = z
  .array(Discount)
  .nullable()
  .describe('If the vendor sends only the id of a discount, the other fields are null.')

const CollectionMethod = named('CollectionMethod', z.enum(['charge_automatically', 'send_invoice']))
  .nullable()
  .describe('Whether the vendor charges the customer, or sends an invoice to pay.')

const Address = z.object({ line1: word, line2: word, city: word, state: word, postal_code: word, country: word })

const TaxExempt = word.describe('none, exempt or reverse.')

const TaxId = named('TaxId', z.object({ type: word.describe('The kind of id, for example eu_vat.'), value: word }))

const SubscriptionItem = named(
  'SubscriptionItem',
  z.object({
    id: word,
    price: word,
    price_name: word.describe("The name of the price. Stripe calls it the price's nickname."),
    lookup_key: word.describe('A key that your own server gave the price at the vendor.'),
    variant: word.describe("A second id of the price, if the vendor has one: Lemon Squeezy's variant."),
    product: word,
    quantity: z.number().nullable(),
    amount: amount.describe('The price of one unit. Null for a price with tiers, or with fractions of a minor unit.'),
    amount_decimal: word.describe('The same as a decimal number of minor units, if it has fractions.'),
    currency: word,
    interval: word.describe('day, week, month or year.'),
    interval_count: whole,
    usage_type: word.describe('licensed or metered.'),
    current_period_start: time,
    current_period_end: time,
  }),
)

export const SubscriptionBody = z.object({
  ...common,
  status: named('SubscriptionStatus', z.enum(SUBSCRIPTION_STATUSES)),
  description: word,
  currency: word,
  items: z.array(SubscriptionItem),
  current_period_start: time.describe(
    'If each item has its own period: the period of the item whose period ends first.',
  ),
  current_period_end: time,
  started_at: time,
  trial_start: time,
  trial_end: time,
  billing_cycle_anchor: time,
  next_billed_at: time,
  cancel_at: time,
  cancel_at_period_end: z.boolean().nullable(),
  canceled_at: time.describe('When the cancellation was requested.'),
  ended_at: time,
  cancellation: z
    .object({ reason: word, feedback: word, comment: word })
    .nullable()
    .describe('Why it was canceled, as the vendor or the customer said.'),
  pause_collection: z
    .object({ behavior: word, resumes_at: time })
    .nullable()
    .describe('Set while payments are not collected. The `status` can still be `active`.'),
  paused_at: time,
  collection_method: CollectionMethod,
  days_until_due: whole,
  discounts,
  latest_invoice: word,
  schedule: word,
  default_payment_method: word,
  pending_setup_intent: word,
  application_fee_percent: z.number().nullable(),
  scheduled_change: z.object({ action: word, effective_at: time, resume_at: time }).nullable(),
})

const InvoiceLine = named(
  'InvoiceLine',
  z.object({
    id: word,
    description: word,
    price: word,
    product: word,
    quantity: z.number().nullable(),
    amount: amount.describe('Before discounts, and before taxes that are added to it.'),
    discount_amount: amount,
    tax: amount,
    period_start: time,
    period_end: time,
    proration: yesNo,
    subscription_item: word,
  }),
)

export const InvoiceBody = z.object({
  ...common,
  status: named('InvoiceStatus', z.enum(INVOICE_STATUSES)),
  number: word,
  description: word,
  subscription: word,
  currency: word,
  subtotal: amount,
  discount_amount: amount,
  tax: amount,
  total: amount,
  amount_due: amount,
  amount_paid: amount,
  amount_remaining: amount,
  starting_balance: amount,
  ending_balance: amount,
  pre_payment_credit_notes_amount: amount.describe(
    'The total of the credit notes that were issued before it was paid.',
  ),
  post_payment_credit_notes_amount: amount.describe(
    'The total of the credit notes that were issued after it was paid.',
  ),
  discounts,
  lines: z
    .object({ data: z.array(InvoiceLine), has_more: z.boolean() })
    .nullable()
    .describe('The first lines that the event contained. `has_more`: the vendor has more.'),
  billing_reason: word.describe("The vendor's own word."),
  collection_method: CollectionMethod,
  period_start: time,
  period_end: time,
  finalized_at: time,
  due_at: time,
  paid_at: time,
  voided_at: time,
  uncollectible_at: time,
  attempt_count: whole,
  next_payment_attempt: time,
  payment_intent: word,
  charge: word,
  default_payment_method: word,
  receipt_number: word,
  hosted_url: url.describe('The page on which the customer sees and pays it.'),
  pdf_url: url,
  customer_email: word,
  customer_name: word,
  customer_address: Address.nullable(),
  customer_tax_exempt: TaxExempt,
  customer_tax_ids: z.array(TaxId).nullable(),
})

const Card = z.object({
  brand: word,
  last4: word,
  exp_month: z.int().nullable(),
  exp_year: z.int().nullable(),
  funding: word.describe('credit, debit or prepaid.'),
  country: word,
  fingerprint: word.describe('The same for the same card number.'),
})

export const PaymentMethodBody = z.object({
  ...common,
  status: named('PaymentMethodStatus', z.enum(PAYMENT_METHOD_STATUSES)),
  type: word.describe("The vendor's own name for it, for example card, sepa_debit or paypal."),
  card: Card.nullable(),
  last4: word.describe('The last four digits of the card or the account.'),
  bank: word.describe("The bank's name, or its code, if the payment method is an account at a bank."),
  wallet: word.describe("The email address or name of the customer's PayPal, Link or Cash App account."),
  billing_details: z.object({ name: word, email: word, phone: word, address: Address.nullable() }).nullable(),
})

export const CustomerBody = z.object({
  ...common,
  status: named('CustomerStatus', z.enum(CUSTOMER_STATUSES)),
  email: word,
  name: word,
  phone: word,
  description: word,
  address: Address.nullable(),
  locale: word,
  currency: word,
  balance: amount.describe('Negative if the customer has credit.'),
  delinquent: yesNo,
  tax_exempt: TaxExempt,
  discounts,
  default_payment_method: word,
})

/** A card as a vendor's payments report it. It is shown as the `card` of a payment method whose own events lack it. */
export type PaymentCardBody = {
  customer: null
  status: 'seen'
  updated_at: string | null
  holder: string | null
} & Pick<z.infer<typeof Card>, 'brand' | 'last4' | 'exp_month' | 'exp_year'>

/** What callers see, by kind. */
export const BODIES = {
  subscription: SubscriptionBody,
  invoice: InvoiceBody,
  payment_method: PaymentMethodBody,
  customer: CustomerBody,
  purchase: PurchaseBody,
}

export type Bodies = { [K in keyof typeof BODIES]: z.infer<(typeof BODIES)[K]> } & { payment_card: PaymentCardBody }

/**
 * Fields that name or reach a person, or that hold free text about one. Their values stay in the object's row: no effect
 * repeats them.
 */
export const PERSONAL: ReadonlySet<string> = new Set([
  'email',
  'name',
  'phone',
  'address',
  'customer_email',
  'customer_name',
  'customer_address',
  'customer_tax_ids',
  'billing_details',
  'cancellation',
  'metadata',
  'wallet',
])

/**
 * Fields that go, wherever they are in an object, when its customer is erased: the personal ones, texts that may name a
 * person, and links to pages that do. `hosted_invoice_url` is what older rows call `hosted_url`.
 */
export const FORGOTTEN: ReadonlySet<string> = new Set([
  ...PERSONAL,
  'description',
  'fingerprint',
  'holder',
  'hosted_invoice_url',
  'hosted_url',
  'locale',
  'pdf_url',
  // Of a refund, some vendors have what the seller typed.
  'reason',
  'receipt_url',
])

/** Links that a vendor signs again for each event: a new signature is not a change. */
export const SIGNED_LINKS: ReadonlySet<string> = new Set(['hosted_url', 'pdf_url', 'receipt_url'])

/** A vendor's status as one of ours; `unknown`, never a guess, if we do not know it. */
export function knownStatus<S extends string>(word: string | null, known: Readonly<Record<string, S>>): S | 'unknown' {
  return (word !== null && Object.hasOwn(known, word) && known[word]) || 'unknown'
}
