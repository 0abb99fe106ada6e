import * as z from 'zod'
import { named } from '../http/fields'
import { bodyAmount, bodyFlag, bodyTime, bodyUrl, bodyWord, commonFields } from './body-fields'

/*
 * A purchase: the one-time items of a payment, with what became of the money. No event has all of it. Each one describes a part: the sale, a
 * charge, a refund, a dispute. What they add up to is made in billing/purchases/compose.ts.
 */

export const PURCHASE_STATUSES = [
  'pending',
  'paid',
  'partially_refunded',
  'refunded',
  'disputed',
  'charged_back',
  'failed',
  'canceled',
  'unknown',
] as const
export const REFUND_STATUSES = ['pending', 'succeeded', 'failed', 'canceled', 'unknown'] as const
export const DISPUTE_STATES = ['inquiry', 'open', 'lost', 'won', 'none', 'unknown'] as const

const PurchaseItem = named(
  'PurchaseItem',
  z.object({
    id: bodyWord,
    description: bodyWord,
    price: bodyWord,
    variant: bodyWord.describe("A second id of the price, if the vendor has one: Lemon Squeezy's variant."),
    product: bodyWord,
    quantity: z.number().nullable(),
    quantity_returned: z
      .number()
      .nullable()
      .describe('Of the quantity: as many as were returned whole. Null if the vendor does not say it by item.'),
    amount: bodyAmount.describe('The total of the item.'),
    refunded_amount: bodyAmount.describe('Null if the vendor does not say it by item.'),
  }),
)

const Refund = named(
  'PurchaseRefund',
  z.object({
    id: bodyWord,
    amount: bodyAmount,
    status: named('RefundStatus', z.enum(REFUND_STATUSES)).describe(
      'A refund that failed or was canceled is not money back. One that is pending is.',
    ),
    reason: bodyWord,
    revokes_access: bodyFlag.describe(
      'Whether the vendor was told to take back what was bought. Null if the vendor does not say.',
    ),
    created_at: bodyTime,
    event_id: z.string().describe('The recorded event, or fetch, that this comes from.'),
  }),
)

const Dispute = named(
  'PurchaseDispute',
  z.object({
    id: bodyWord,
    amount: bodyAmount,
    state: named('DisputeState', z.enum(DISPUTE_STATES)).describe(
      '`inquiry`: the bank asks, and the money stays. `open`: the money is away until it is decided. `lost`: it is gone, also while an appeal is decided. `won`: it is back. `none`: it was closed or prevented before it took any money.',
    ),
    vendor_status: bodyWord,
    reason: bodyWord,
    created_at: bodyTime,
    due_at: bodyTime.describe('Until when evidence can be sent.'),
    event_id: z.string().describe('The recorded event, or fetch, that this comes from.'),
  }),
)

export const PurchaseBody = z.object({
  ...commonFields,
  status: named('PurchaseStatus', z.enum(PURCHASE_STATUSES)).describe(
    'Of a payment that was made, the first that applies: `charged_back` (a dispute is lost), `refunded` (the whole amount), `disputed` (a dispute is open), `partially_refunded`, `paid`.',
  ),
  number: bodyWord,
  description: bodyWord,
  currency: bodyWord,
  subtotal: bodyAmount,
  discount_amount: bodyAmount,
  tax: bodyAmount,
  total: bodyAmount.describe('Of the whole payment, also where it paid for a subscription too.'),
  paid_at: bodyTime,
  items: z.array(PurchaseItem).nullable().describe('Null if no event says what was bought: see `items_missing`.'),
  items_missing: z.boolean().describe('Whether nothing says what was bought.'),
  refunded_amount: bodyAmount.describe('Money back: refunds that stand, and disputes that are lost.'),
  refunds: z.array(Refund),
  disputes: z.array(Dispute),
  invoice: bodyWord.describe("The vendor's id of the invoice that was paid, if there is one."),
  subscription: bodyWord.describe('Set if the same payment, or its invoice, belongs to a subscription.'),
  payment_method: bodyWord,
  receipt_url: bodyUrl,
  hosted_url: bodyUrl,
  customer_email: bodyWord,
  customer_name: bodyWord,
})
type Body = z.infer<typeof PurchaseBody>
/**
 * Vendors whose refunds name the invoice, or a payment that a link leads to it: an invoice and a purchase with one id are of the same payment.
 * Others number their payments and their invoices apart.
 */
export const MONEY_ON_INVOICES = ['stripe', 'paddle', 'polar', 'chargebee']
/** The fields about money that comes back. Invoices have them too. */
export const MONEY_BACK = ['refunded_amount', 'refunds', 'disputes'] as const
export type PurchaseStatus = Body['status']
export type RefundStatus = (typeof REFUND_STATUSES)[number]
export type DisputeState = (typeof DISPUTE_STATES)[number]
/** Whether a refund is money back: one that is pending is, until it fails. */
export const isBack = (status: unknown): boolean =>
  status === ('succeeded' satisfies RefundStatus) || status === ('pending' satisfies RefundStatus)
/** An item as a sale names it: what came back of it is in other parts. */
export type SoldItem = Omit<NonNullable<Body['items']>[number], 'quantity_returned' | 'refunded_amount'>

/** What the bodies of all parts have. `updated_at`: the time of the event. */
type OfPart = { customer: string | null; updated_at: string | null }

/**
 * The sale. `refunded`: the total that the vendor's own object says is back; null if it does not say. `paid_at`: null where the time of the event
 * that says that it is paid is the time.
 */
export type SalePart = OfPart &
  Omit<
    Body,
    'items' | 'items_missing' | 'refunded_amount' | 'refunds' | 'disputes' | 'status' | 'customer' | 'updated_at'
  > & {
    status: 'pending' | 'paid' | 'refunded' | 'failed' | 'canceled' | 'unknown'
    items: SoldItem[] | null
    refunded: number | null
  }
/** A charge of the payment. `refunded`: its own total of what is back. */
export type ChargePart = OfPart & {
  status: 'charge'
  refunded: number | null
  payment_method: string | null
  receipt_url: string | null
}
/**
 * A refund. `charge`: the id of the charge it is of; null if the vendor has none. `returned`: what came back of items, by their ids. `quantity`: as
 * many of the item; null if the vendor does not say. `whole`: all of the item; null if the vendor does not say, so that the amounts do.
 */
export type RefundPart = OfPart & {
  status: RefundStatus
  charge: string | null
  amount: number | null
  reason: string | null
  revokes_access: boolean | null
  created_at: string | null
  returned: { item: string; amount: number | null; quantity: number | null; whole: boolean | null }[] | null
}
/** A dispute. `reverses`: it gives back what an earlier one took, as Paddle has it. */
export type DisputePart = OfPart & {
  status: DisputeState
  vendor_status: string | null
  amount: number | null
  reason: string | null
  created_at: string | null
  due_at: string | null
  reverses: boolean
}
/** Says that the payment paid an invoice, whose purchase then has the money that comes back. */
export type LinkPart = OfPart & { status: 'link'; to: string }

/** What was bought, as it was fetched because no event says it. */
export type ItemsPart = OfPart & { status: 'items'; items: SoldItem[] }

export type PurchasePart = SalePart | ItemsPart | ChargePart | RefundPart | DisputePart | LinkPart

/**
 * The names of parts. `sale`: by the object that sells. `intent`: by a payment whose metadata says what it is for; a sale is better. `items`: by a
 * fetch, where no event says what was bought. A charge, a refund and a dispute are named by their ids: see {@link partNamed}.
 */
export const PARTS = { sale: 'sale', intent: 'intent', items: 'items', link: 'link' } as const

/** The name of the part of a charge, a refund or a dispute. */
export function partNamed(what: 'charge' | 'refund' | 'dispute', id: string): string {
  return `${what}:${id}`
}
