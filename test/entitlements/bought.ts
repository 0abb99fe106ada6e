import * as fc from 'fast-check'
import type { Again } from '../../src/catalog/lasting'
import type { BoughtItem, PurchaseFact } from '../../src/entitlements/facts'
import { DAY, iso, SECOND } from '../../src/lib/time'
import { type Fields, paddleEventOf, paddleTotals, stripeEventOf } from '../billing/payloads'
import { paddleAdjustment, stripeDispute, stripeRefund, stripeSession } from '../billing/purchases/payloads'

/*
 * Purchases as their events tell them, and as a person says after reading these events: the facts are written down here, without a look at what the
 * product makes of the events.
 */

const START = Date.parse('2026-01-01T00:00:00Z')
export const dayAt = (day: number) => START + day * DAY
/** How many consumers share the purchases. */
export const PEOPLE = 9
/** The last day on which something is bought. */
const LAST_DAY = 60

/** What a mapping says of one-time payments: each length with each way of being bought again, and no length. */
export type SoldPrice = { ref: string; plan: 'low' | 'high'; lasts: string | null; again: Again | null }
export const SOLD_PRICES: readonly SoldPrice[] = [
  { ref: 'price_none', plan: 'low', lasts: null, again: null },
  ...['forever', 'P10D', 'P1M', 'P1Y'].flatMap((lasts, n) =>
    ([null, 'after', 'beside'] as const).map(
      (again, m): SoldPrice => ({
        ref: `price_${lasts}_${again}`,
        plan: (n + m) % 2 === 0 ? 'low' : 'high',
        lasts,
        again,
      }),
    ),
  ),
]

/** What happens to a purchase. `status` is what it then has. `refund`: how much of 4,900 goes back. `dispute`: its last status. */
type Fate = {
  status: string
  vendor?: 'paddle'
  refund?: number
  refundFails?: true
  /** Whether another refund was tried later, and failed. */
  another?: true
  dispute?: string
  sale?: Fields
  livemode?: false
  /** Whether the first item, and the second, come back whole. */
  returned?: [boolean, boolean]
}
const FATES: Record<string, Fate> = {
  kept: { status: 'paid' },
  'returned in part': { status: 'partially_refunded', refund: 900 },
  'returned in full': { status: 'refunded', refund: 4900 },
  'a refund that failed': { status: 'paid', refund: 4900, refundFails: true },
  'returned in full, and one more refund that failed': { status: 'refunded', refund: 4900, another: true },
  'an inquiry': { status: 'paid', dispute: 'warning_needs_response' },
  disputed: { status: 'disputed', dispute: 'under_review' },
  'returned in part, then disputed': { status: 'disputed', refund: 900, dispute: 'under_review' },
  'a lost dispute': { status: 'charged_back', dispute: 'lost' },
  'returned in full, and a lost dispute': { status: 'charged_back', refund: 4900, dispute: 'lost' },
  'a dispute that was won': { status: 'paid', dispute: 'won' },
  'not paid yet': { status: 'pending', sale: { payment_status: 'unpaid' } },
  'in test mode': { status: 'paid', livemode: false },
  'by Paddle': { status: 'paid', vendor: 'paddle' },
  'by Paddle, a part of an item returned': {
    status: 'partially_refunded',
    vendor: 'paddle',
    refund: 900,
    returned: [false, false],
  },
  'by Paddle, the first item returned': {
    status: 'partially_refunded',
    vendor: 'paddle',
    refund: 2000,
    returned: [true, false],
  },
  'by Paddle, both items returned': { status: 'refunded', vendor: 'paddle', refund: 4900, returned: [true, true] },
  'by Paddle, charged back': { status: 'charged_back', vendor: 'paddle', dispute: 'chargeback' },
}

const EACH = SOLD_PRICES.flatMap((price) => Object.keys(FATES).map((fate) => ({ price, fate })))
/** Each price with each fate, mixed, so that a part of them has many of both: 79 is a prime number. */
export const PAIRS = EACH.map((_, n) => EACH[(n * 79) % EACH.length] as (typeof EACH)[number])
/** How many of these one short run takes. */
export const SHARE = 40
type Pair = (typeof PAIRS)[number]

/** How these are bought: by whom, on which day, how many, and together with what. */
export const salesOf = (pairs: readonly Pair[]) =>
  fc.tuple(
    ...pairs.map((pair) =>
      fc.record({
        ...{ price: fc.constant(pair.price), fate: fc.constant(pair.fate), person: fc.nat(PEOPLE - 1) },
        ...{ day: fc.nat(LAST_DAY), quantity: fc.nat(3), second: fc.option(fc.constantFrom(...SOLD_PRICES)) },
      }),
    ),
  )
export type Sale = {
  price: SoldPrice
  fate: string
  person: number
  day: number
  quantity: number
  second: SoldPrice | null
}

/** One of these under a name of its own. */
export type Sold = Sale & { id: string; customer: string }
export const buyerOf = (vendor: string, name: string) => `${vendor === 'paddle' ? 'ctm' : 'cus'}_${name}`
export const fateOf = ({ fate }: Pick<Sold, 'fate'>): Fate => FATES[fate] as Fate
export const sellerOf = (one: Pick<Sold, 'fate'>) => fateOf(one).vendor ?? 'stripe'

export const piecesOf = ({ price, quantity, second }: Sold) => [
  { price, quantity },
  ...(second ? [{ price: second, quantity: 2 }] : []),
]

/** An event of a purchase, and what it is about. */
export type SaleEvent = { of: Sold; about: 'sale' | 'refund' | 'dispute' | 'other'; event: object }

/** The events of a purchase, in the order in which they happen: a day apart each. */
export function eventsOf(one: Sold): SaleEvent[] {
  const { refund, refundFails, another, dispute } = fateOf(one)
  const told = (about: SaleEvent['about'], ...events: object[]) =>
    events.map((event): SaleEvent => ({ of: one, about, event }))
  return sellerOf(one) === 'paddle'
    ? [
        ...told('sale', paddleSold(one)),
        ...(refund ? told('refund', paddleBack(one, 'refund', refund)) : []),
        ...(dispute ? told('dispute', paddleBack(one, dispute, 4900)) : []),
      ]
    : [
        ...told('sale', stripeSold(one)),
        ...(refund ? told('refund', stripeBack(one, refund, 'succeeded')) : []),
        ...(refund && refundFails ? told('refund', stripeBack(one, refund, 'failed')) : []),
        ...(another ? told('other', stripeBack(one, 900, 'failed', `re_${one.id}_more`)) : []),
        ...(dispute ? told('dispute', stripeDisputed(one, null), stripeDisputed(one, dispute)) : []),
      ]
}

const secondsAt = (day: number) => dayAt(day) / SECOND

function stripeSold(one: Sold): object {
  const { id, customer, day } = one
  const { sale, livemode = true } = fateOf(one)
  const data = piecesOf(one).map(({ price, quantity }, n) => {
    return { id: `li_${n}`, quantity, amount_total: 2450, currency: 'usd', price: { id: price.ref, product: 'prod_1' } }
  })
  const fields = { payment_intent: id, customer, created: secondsAt(day), line_items: { data, has_more: false } }
  const event = stripeEventOf('checkout.session.completed', stripeSession({ ...fields, ...sale }), {
    at: secondsAt(day),
  })
  return { ...event, livemode }
}

function stripeBack(
  { id: payment, day }: Sold,
  amount: number,
  status: 'succeeded' | 'failed',
  id = `re_${payment}`,
): object {
  const object = stripeRefund(payment, { id, amount, status, created: secondsAt(day + 1) })
  return status === 'failed'
    ? stripeEventOf('refund.failed', object, { at: secondsAt(day + 2) })
    : stripeEventOf('refund.created', object, { at: secondsAt(day + 1) })
}

/** @param status null: as it is opened */
function stripeDisputed({ id, day }: Sold, status: string | null): object {
  const before = 'needs_response'
  const object = stripeDispute(id, { id: `du_${id}`, status: status ?? before, created: secondsAt(day + 3) })
  return status === null
    ? stripeEventOf('charge.dispute.created', object, { at: secondsAt(day + 3) })
    : stripeEventOf('charge.dispute.updated', object, { at: secondsAt(day + 4), previous: { status: before } })
}

const PADDLE_ITEM = ['txnitm_0', 'txnitm_1'] as const

function paddleSold(one: Sold): object {
  const pieces = piecesOf(one).map((piece, n) => ({
    ...piece,
    item: PADDLE_ITEM[n],
    once: { id: piece.price.ref, product_id: 'pro_1', billing_cycle: null },
  }))
  const at = iso(dayAt(one.day))
  return paddleEventOf(
    'transaction.completed',
    {
      ...{ id: one.id, status: 'completed', customer_id: one.customer, currency_code: 'USD', payments: [] },
      items: pieces.map(({ once, quantity }) => ({ price: once, quantity })),
      details: {
        totals: paddleTotals({ total: '4900', subtotal: '4900', tax: '0' }),
        line_items: pieces.map(({ item, once, quantity }) => {
          const totals = { total: '2450', subtotal: '2450', tax: '0', discount: '0' }
          return { id: item, price_id: once.id, product: { id: 'pro_1', name: 'One' }, quantity, totals }
        }),
      },
      ...{ created_at: at, updated_at: at },
    },
    { at },
  )
}

function paddleBack(one: Sold, action: string, total: number): object {
  const { returned } = fateOf(one)
  const at = iso(dayAt(one.day + 1))
  const items = (returned ?? []).slice(0, piecesOf(one).length).map((whole, n) => {
    const amount = String(whole ? 2450 : 450)
    return {
      id: `adjitm_${n}`,
      item_id: PADDLE_ITEM[n],
      type: whole ? 'full' : 'partial',
      amount,
      totals: { total: amount },
    }
  })
  const adjustment = paddleAdjustment(one.id, {
    ...{ id: `adj_${one.id}`, action, customer_id: one.customer, items, created_at: at, updated_at: at },
    totals: { total: String(total), currency_code: 'USD' },
  })
  return paddleEventOf('adjustment.created', adjustment, { at })
}

/**
 * What a person says of a purchase after its events.
 *
 * @param recorded its events, in the order in which they happened, each with the id of its record
 * @param planOf the id of a plan by its key
 */
export function factOf(
  one: Sold,
  recorded: readonly (SaleEvent & { record: string })[],
  planOf: (key: SoldPrice['plan']) => string,
): PurchaseFact {
  const { status, refund, refundFails, returned = [], dispute, livemode } = fateOf(one)
  const vendor = sellerOf(one)
  const lastOf = (about?: SaleEvent['about']) =>
    recorded.findLast((told) => about === undefined || told.about === about)?.record ?? ''
  const named = (about: 'refund' | 'dispute', prefix: string) => ({
    id: `${vendor === 'paddle' ? 'adj' : prefix}_${one.id}`,
    event_id: lastOf(about),
  })
  const isAway = status === 'disputed' || status === 'charged_back'
  return {
    ...{ vendor, id: one.id, customer: one.customer, status, ambiguous: false, event_id: lastOf() },
    livemode: vendor === 'paddle' ? null : (livemode ?? true),
    paid_at: status === 'pending' ? null : dayAt(one.day),
    items: piecesOf(one).map(({ price, quantity }, n): BoughtItem => {
      const { ref, plan, lasts, again } = price
      const product = vendor === 'paddle' ? 'pro_1' : 'prod_1'
      const item = { price: ref, variant: null, product, quantity, plan_id: planOf(plan), lasts, again }
      return { ...item, returned: returned[n] ? quantity : 0 }
    }),
    refund: refund && !refundFails ? { ...named('refund', 're'), revokes: false } : null,
    dispute: dispute && isAway ? named('dispute', 'du') : null,
  }
}
