import { expect, it } from 'vitest'
import * as p from '../billing/payloads-more'
import * as s from '../billing/payloads-sold'
import type { SignedVendor } from '../billing/signed'
import { vendorWorld } from '../billing/vendor-world'
import { setClock, stopClock } from '../clock'

/*
 * A purchase at each vendor, from its deliveries as the vendor signs them to what its consumer may do: bought for 30 days, refunded in part, and
 * then in full. Days are counted from 2026-01-01.
 */

/** `seats`: as many as the plan gives after each event. `why`: what an explanation says in the end. */
type Story = {
  vendor: SignedVendor
  consumer: string
  ref: string
  purchase: string
  seats: number[]
  why: string
  lines: [day: number, payload: unknown, status: string, reason: string][]
}

const DAY = 86_400
const of = (day: number, fields: p.Fields) => ({
  ...{ updated_at: p.START + day * DAY, resource_version: (p.START + day * DAY) * 1000 },
  ...fields,
})
const note = (day: number, fields: p.Fields) =>
  p.chargebeeEvent('credit_note_created', { credit_note: s.chargebeeNote(of(day, fields)) }, p.START + day * DAY)

const order = (topic: string, day: number, fields: p.Fields) =>
  s.shopifyEvent(topic, s.shopifyOrder({ updated_at: p.at(day), ...fields }), p.at(day, 9))
const refund = (day: number, fields: p.Fields) =>
  s.shopifyEvent('refunds/create', s.shopifyRefund({ created_at: p.at(day), processed_at: p.at(day), ...fields }))
const REST = {
  id: 9002,
  refund_line_items: [],
  transactions: [{ kind: 'refund', status: 'success', amount: '15.74', currency: 'USD' }],
}

const at = (day: number) => ({ updated_at: p.at(day, 3) })
const LAST = { id: 'SQPAY1_ref2', amount_money: { amount: 1861, currency: 'USD' } }

const STORIES: Story[] = [
  {
    vendor: 'chargebee',
    consumer: 'user_chargebee',
    ref: 'cb_charge_1',
    purchase: 'cb_inv_1',
    seats: [0, 3, 3, 3, 0],
    why: 'Refunded in full by refund cb_cn_2.',
    lines: [
      [
        0,
        p.chargebeeEvent('invoice_generated', {
          invoice: s.chargebeeSold({ status: 'payment_due', paid_at: undefined }),
          customer: p.chargebeeCustomer(),
        }),
        'pending',
        'no_subscription',
      ],
      [
        1,
        p.chargebeeEvent('payment_succeeded', { invoice: s.chargebeeSold(of(1, { paid_at: p.START + DAY })) }),
        'paid',
        'plan',
      ],
      [2, note(2, {}), 'partially_refunded', 'plan'],
      [
        3,
        note(3, { id: 'cb_cn_2', total: 1861, amount_refunded: 0, status: 'refund_due' }),
        'partially_refunded',
        'plan',
      ],
      [4, note(4, { id: 'cb_cn_2', total: 1861, amount_refunded: 1861 }), 'refunded', 'refunded'],
    ],
  },
  {
    vendor: 'shopify',
    consumer: 'user_shopify',
    ref: '7001',
    purchase: '5001',
    seats: [0, 3, 2, 0],
    why: 'Refunded in full by refund 9002.',
    lines: [
      [0, order('orders/create', 0, { financial_status: 'pending' }), 'pending', 'no_subscription'],
      [1, order('orders/paid', 1, {}), 'paid', 'plan'],
      [2, refund(2, {}), 'partially_refunded', 'plan'],
      [3, refund(3, REST), 'refunded', 'refunded'],
    ],
  },
  {
    vendor: 'square',
    consumer: 'user_square',
    ref: 'credits_100',
    purchase: 'SQPAY1',
    seats: [1, 1, 1, 0],
    why: 'Refunded in full by refund SQPAY1_ref2.',
    lines: [
      [1, p.squareEvent('payment.updated', s.squarePayment(at(1))), 'paid', 'plan'],
      [2, p.squareEvent('refund.created', s.squareRefund(at(2))), 'partially_refunded', 'plan'],
      [
        3,
        p.squareEvent('refund.updated', s.squareRefund({ ...at(3), ...LAST, status: 'REJECTED' })),
        'partially_refunded',
        'plan',
      ],
      [4, p.squareEvent('refund.updated', s.squareRefund({ ...at(4), ...LAST, version: 3 })), 'refunded', 'refunded'],
    ],
  },
]

it.each(STORIES)('the story of a purchase at $vendor', async ({ vendor, consumer, ref, purchase, ...story }) => {
  stopClock(Date.parse(p.at(0)))
  const world = await vendorWorld(vendor)
  await world.consumers.put(consumer)
  await world.catalog.feature('sso')
  await world.catalog.feature('seats', { name: 'Seats', type: 'quantity' })
  const features = { sso: { value: true }, seats: { value: 1, per_seat: true } }
  const prices = [{ vendor, ref, lasts: 'P30D' }]
  expect((await world.catalog.plan({ key: 'pro', name: 'Pro', prices, features })).status).toBe(201)
  // Only Square's customers say who they are in an event of their own.
  if (vendor === 'square') await world.tell(p.squareEvent('customer.created', p.squareCustomer()))
  let event: string | undefined
  for (const [n, [day, payload, status, reason]] of story.lines.entries()) {
    setClock(Date.parse(p.at(day)))
    const told = await world.tell(payload)
    expect([told.status, told.last_error]).toEqual(['processed', null])
    event = told.id
    expect((await world.api(`/purchases/${purchase}`)).body).toMatchObject({ status, source_event_id: event })
    const { features: now } = await world.one(`ext:${consumer}`)
    const allowed = reason === 'plan'
    expect([day, now.sso, now.seats]).toEqual([
      day,
      expect.objectContaining({ allowed, reason }),
      expect.objectContaining({ allowed, reason, value: story.seats[n] }),
    ])
  }
  // The explanation names the refund, and the event that told of it.
  const { features: explained } = await world.one(`ext:${consumer}`, '?explain=true')
  expect(explained.sso?.sources).toMatchObject([{ event_id: event, why_not: story.why }])
})
