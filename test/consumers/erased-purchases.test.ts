import { beforeEach, expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/time'
import { stripeEventOf, stripeInvoice, T0 } from '../billing/payloads'
import {
  stripeCharge,
  stripeDispute,
  stripeInvoicePayment,
  stripeRefund,
  stripeSession,
} from '../billing/purchases/payloads'
import { billingWorld } from '../billing/world'
import { advance, stopClock } from '../clock'
import { cron, rows } from '../inbox/pipeline'
import { as } from './consumers'

/* What an erasure leaves of purchases, placed or not, and of what comes after it. */

beforeEach(() => {
  stopClock()
})

const customer = 'cus_hers'
const buyer = {
  customer_details: { email: 'zqulo@example.com', name: 'Zqulo' },
  metadata: { consumer_external_id: 'her', zqulo: '1' },
}
const receipt_url = 'https://pay.stripe.com/receipts/zqulo'
const sold = (payment_intent: string, at: number) =>
  stripeEventOf('checkout.session.completed', stripeSession({ customer, payment_intent, ...buyer }), { at })
const charged = (payment: string, at: number) =>
  stripeEventOf('charge.refunded', stripeCharge(payment, { customer, amount_refunded: 1000, receipt_url }), { at })

it('keeps amounts, dates and statuses, and nothing that is about a person', async () => {
  const world = await billingWorld()
  const consumers = as(world.project, world.token)
  await consumers.put('her', {})
  const marked = async () => (await world.objects()).filter((row) => /zqulo/i.test(JSON.stringify(row)))
  await world.deliver(sold('pi_1', T0), charged('pi_1', T0 + 60), charged('pi_stray', T0 + 60))
  // A renewal that came back: no purchase shows it, and its invoice is found by the customer.
  await world.deliver(
    stripeEventOf('invoice.paid', stripeInvoice({ id: 'in_hers', customer, status: 'paid' }), { at: T0 }),
    stripeEventOf('invoice_payment.paid', stripeInvoicePayment('in_hers', 'pi_hers'), { at: T0 }),
    stripeEventOf('charge.refunded', stripeCharge('pi_hers', { customer, amount_refunded: 1000 }), { at: T0 + 60 }),
    stripeEventOf('refund.created', stripeRefund('pi_hers', { reason: 'zqulo_asked' }), { at: T0 + 60 }),
  )
  expect((await consumers.get('ext:her')).body.customers).toHaveLength(1)
  expect(await marked()).toHaveLength(3)

  expect((await consumers.erase('ext:her')).status).toBe(202)
  advance(MINUTE)
  for (let runs = 0; runs < 20; runs++) {
    await cron({ EVENTS: world.queue.EVENTS })
    const due = await rows('SELECT id FROM erasures WHERE project_id = ? AND due_at <= ?', world.project, Date.now())
    if (due.length === 0) break
  }
  expect(await marked()).toEqual([])
  const kept = { total: 4900, refunded_amount: 1000, customer, paid_at: '2026-01-01T00:00:00Z' }
  expect(await world.one('purchases', 'pi_1')).toMatchObject({ ...kept, customer_email: null, metadata: null })
  const back = { refunded_amount: 1000, refunds: [{ amount: 1000, status: 'succeeded', reason: null }] }
  expect(await world.one('invoices', 'in_hers')).toMatchObject(back)

  // Later events: of what is known, of a sale that was not, and some that name no customer.
  await world.deliver(
    stripeEventOf('refund.created', stripeRefund('pi_1'), { at: T0 + 90 }),
    stripeEventOf('charge.dispute.created', stripeDispute('pi_1'), { at: T0 + 120 }),
    charged('pi_1', T0 + 150),
    sold('pi_stray', T0 + 180),
    sold('pi_new', T0 + 180),
  )
  expect(await marked()).toEqual([])
  expect(await world.one('purchases', 'pi_1')).toMatchObject({ ...kept, status: 'disputed', receipt_url: null })
  expect(await world.one('purchases', 'pi_stray')).toMatchObject({ status: 'partially_refunded', customer_name: null })
})
