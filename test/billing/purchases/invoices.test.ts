import { beforeAll, describe, expect, it } from 'vitest'
import { NO_MONEY_BACK } from '../empty'
import { anId, type Fields, paddleEventOf, paddleTransaction, stripeEventOf, stripeInvoice, T0 } from '../payloads'
import * as more from '../payloads-more'
import { shuffled } from '../shuffle'
import { vendorWorld } from '../vendor-world'
import { type BillingWorld, billingWorld } from '../world'
import {
  paddleAdjustment,
  stripeCharge,
  stripeDispute,
  stripeInvoicePayment,
  stripeOneTimeLine,
  stripeRefund,
} from './payloads'

/* What comes back of the money that an invoice was paid with. No purchase shows it, if the invoice has no one-time lines. */

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

const invoiceOf = (id: unknown) => world.one('invoices', String(id))
const feed = async () => (await world.api('/../changes?types=invoice.*,purchase.*&limit=200')).body.data as Fields[]
const toldOf = async (id: unknown, type: string) =>
  (await feed()).filter((one) => one.type === type && (one.object as Fields).id === id)

/** A renewal of Stripe's that was paid and then came back in part, with a dispute of the rest. */
function renewal(fields: Fields = {}) {
  const payment = anId('pi')
  const invoice = stripeInvoice({ id: anId('in'), status: 'paid', ...fields })
  const refund = stripeRefund(payment)
  const dispute = stripeDispute(payment, { amount: 3900 })
  return {
    id: String(invoice.id),
    payment,
    refund,
    events: [
      stripeEventOf('invoice.paid', invoice, { at: T0 }),
      stripeEventOf('invoice_payment.paid', stripeInvoicePayment(String(invoice.id), payment), { at: T0 }),
      stripeEventOf('refund.created', refund, { at: T0 + 60 }),
      stripeEventOf('charge.refunded', stripeCharge(payment, { amount_refunded: 1000 }), { at: T0 + 60 }),
      stripeEventOf('charge.dispute.created', dispute, { at: T0 + 120 }),
    ],
  }
}
const BACK = {
  status: 'paid',
  refunded_amount: 1000,
  refunds: [{ amount: 1000, status: 'succeeded', reason: 'requested_by_customer' }],
  disputes: [{ amount: 3900, state: 'open', reason: 'fraudulent' }],
}

describe('an invoice of Stripe', () => {
  it('shows refunds and disputes of its payment, whichever event comes first', async () => {
    for (let i = 0; i < 6; i++) {
      const order = shuffled([0, 1, 2, 3, 4])
      const { id, events, payment } = renewal()
      await world.deliver(...order.map((i) => events[i] as object))
      expect(await invoiceOf(id), order.join()).toMatchObject(BACK)
      expect((await world.api(`/purchases/${payment}`)).status).toBe(404)
      expect((await world.api(`/purchases/${id}`)).status).toBe(404)
    }
  })

  it('shows none before, and no more once a refund has failed and the dispute is won', async () => {
    const { id, events, refund, payment } = renewal()
    await world.deliver(...events.slice(0, 2))
    expect(await invoiceOf(id)).toMatchObject(NO_MONEY_BACK)
    await world.deliver(
      ...events.slice(2),
      stripeEventOf('refund.failed', { ...refund, status: 'failed' }, { at: T0 + 300 }),
      stripeEventOf('charge.dispute.closed', stripeDispute(payment, { id: 'dp_x', status: 'won' }), { at: T0 + 300 }),
    )
    expect(await invoiceOf(id)).toMatchObject({ refunded_amount: 0, refunds: [{ status: 'failed' }] })
  })

  it('is in lists, with its customer, and in its timeline, as it is by itself', async () => {
    const customer = anId('cus')
    const { id, events } = renewal({ customer })
    await world.deliver(...events)
    const one = await invoiceOf(id)
    expect((await world.api(`/invoices?customer=${customer}`)).body.data).toEqual([one])
    expect((await world.api(`/customers/stripe/${customer}`)).body.invoices.data).toEqual([one])
    const timeline = await world.timeline('invoices', id)
    expect(timeline.map(({ event_type, result }) => [event_type, result])).toEqual([
      ['charge.dispute.created', 'applied'],
      ['charge.refunded', 'applied'],
      ['refund.created', 'applied'],
      ['invoice.paid', 'applied'],
    ])
    expect(timeline[0]?.change).toMatchObject({ disputes: { from: [], to: [{ amount: 3900 }] } })
  })

  it('is told of in the feed when money comes back, and only for an invoice that is known', async () => {
    const { id, events } = renewal()
    await world.deliver(...events.slice(1))
    expect(await toldOf(id, 'invoice.changed')).toEqual([])
    await world.deliver(events[0] as object)
    const [made] = await toldOf(id, 'invoice.changed')
    expect(made).toMatchObject({ fields: expect.arrayContaining(['refunded_amount', 'refunds', 'disputes', 'total']) })
    const second = renewal()
    await world.deliver(...second.events)
    const changes = await toldOf(second.id, 'invoice.changed')
    expect(changes.map(({ fields }) => fields).slice(1)).toEqual([['refunded_amount', 'refunds'], ['disputes']])
    expect(changes[1]).toMatchObject({ revision: null })
  })

  it('with one-time lines shows what its purchase shows', async () => {
    const { id, events } = renewal({ lines: { object: 'list', data: [stripeOneTimeLine()], has_more: false } })
    await world.deliver(...events)
    const purchase = await world.one('purchases', id)
    expect(purchase).toMatchObject({ ...BACK, status: 'disputed' })
    const { refunded_amount, refunds, disputes } = purchase
    expect(await invoiceOf(id)).toMatchObject({ refunded_amount, refunds, disputes })
    const aboutMoney = (await toldOf(id, 'purchase.changed')).filter(
      ({ fields }) => (fields as string[]).includes('refunds') || (fields as string[]).includes('disputes'),
    )
    expect(await toldOf(id, 'invoice.changed')).toHaveLength(aboutMoney.length)
  })
})

it('a transaction of Paddle shows its adjustments', async () => {
  const transaction = paddleTransaction({ status: 'completed' })
  await world.deliver(
    paddleEventOf('transaction.completed', transaction),
    paddleEventOf('adjustment.created', paddleAdjustment(String(transaction.id))),
  )
  const { refunds, refunded_amount } = await invoiceOf(transaction.id)
  expect(refunds).toMatchObject([{ status: 'succeeded' }])
  expect(refunded_amount).toBeGreaterThan(0)
})

it("an invoice of Lemon Squeezy does not show the refund of the order with its number, which is somebody else's", async () => {
  const lemon = await vendorWorld('lemonsqueezy')
  const back = more.lemonOrder({ customer_id: 99, status: 'refunded', refunded_amount: 2261 })
  await lemon.tell(
    more.lemonEvent('subscription_payment_success', ['subscription-invoices', '4711'], more.lemonInvoice()),
  )
  await lemon.tell(more.lemonEvent('order_refunded', ['orders', '4711'], back))
  const one = async (path: string) => (await lemon.api(path)).body
  expect(await one('/purchases/4711')).toMatchObject({ status: 'refunded', refunded_amount: 2261 })
  expect(await one('/invoices/4711')).toMatchObject(NO_MONEY_BACK)
  const timeline = await lemon.timeline('invoices', '4711')
  expect(timeline.filter(({ event_type, result }) => event_type === 'order_refunded' && result === 'applied')).toEqual(
    [],
  )
  const { data } = await one('/../changes?types=invoice.*')
  expect(data).toHaveLength(1)
})
