import * as z from 'zod'
import { named } from '../http/fields'

/*
 * The project's billing objects, in one vocabulary for all vendors. Times are ISO 8601 UTC in the vendor's own
 * precision; amounts are integers in the currency's minor unit, as vendors send them.
 *
 * To add a field: add it to the body here. The compiler then asks for it in each vendor's file (`*-objects.ts`); the
 * API, its OpenAPI document and the console then show it. Objects stored before get it when their events are replayed.
 */

export const SUBSCRIPTION_STATUSES = [
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

const time = z.string().nullable()
const word = z.string().nullable()
const amount = z.int().nullable()

const common = {
  customer: word.describe("The vendor's id of the customer."),
  vendor_status: word.describe("The vendor's own status. Where we do not know it, `status` is `unknown`."),
  livemode: z.boolean().nullable().describe('Null if the vendor does not say.'),
  updated_at: time.describe("The vendor's time of the event that this state comes from."),
}

export const SubscriptionBody = z.object({
  ...common,
  status: named('SubscriptionStatus', z.enum(SUBSCRIPTION_STATUSES)),
  currency: word,
  items: z.array(z.object({ id: word, price: word, product: word, quantity: z.number().nullable() })),
  current_period_start: time.describe(
    'If each item has its own period: the period of the item whose period ends first.',
  ),
  current_period_end: time,
  trial_end: time,
  cancel_at: time,
  cancel_at_period_end: z.boolean().nullable(),
  canceled_at: time.describe('When the cancellation was requested.'),
  ended_at: time,
  default_payment_method: word,
  scheduled_change: z.object({ action: word, effective_at: time, resume_at: time }).nullable(),
})

export const InvoiceBody = z.object({
  ...common,
  status: named('InvoiceStatus', z.enum(INVOICE_STATUSES)),
  number: word,
  subscription: word,
  currency: word,
  total: amount,
  amount_due: amount,
  amount_paid: amount,
  period_start: time,
  period_end: time,
  due_date: time,
  next_payment_attempt: time,
  hosted_invoice_url: word,
})

const Card = z.object({
  brand: word,
  last4: word,
  exp_month: z.int().nullable(),
  exp_year: z.int().nullable(),
})

export const PaymentMethodBody = z.object({
  ...common,
  status: named('PaymentMethodStatus', z.enum(PAYMENT_METHOD_STATUSES)),
  type: word.describe("The vendor's own name for it, for example card, sepa_debit or paypal."),
  card: Card.nullable(),
})

/** A card as a vendor's payments report it. It is shown as the `card` of a payment method whose own events lack it. */
export type PaymentCardBody = { customer: null; status: 'seen'; updated_at: string | null } & z.infer<typeof Card>

export type Bodies = {
  subscription: z.infer<typeof SubscriptionBody>
  invoice: z.infer<typeof InvoiceBody>
  payment_method: z.infer<typeof PaymentMethodBody>
  payment_card: PaymentCardBody
}

/** A vendor's status as one of ours; `unknown`, never a guess, if we do not know it. */
export function statusOf<S extends string>(word: string | null, known: Readonly<Record<string, S>>): S | 'unknown' {
  return (word !== null && Object.hasOwn(known, word) && known[word]) || 'unknown'
}
