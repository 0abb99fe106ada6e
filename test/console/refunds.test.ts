import { beforeAll, describe, expect, it } from 'vitest'
import {
  anId,
  type Fields,
  paddleEventOf,
  paddleTransaction,
  stripeEventOf,
  stripeInvoice,
  T0,
} from '../billing/payloads'
import {
  paddleAdjustment,
  stripeCharge,
  stripeDispute,
  stripeInvoicePayment,
  stripeOneTimeLine,
  stripeRefund,
} from '../billing/purchases/payloads'
import { type BillingWorld, billingWorld } from '../billing/world'
import { as } from '../consumers/consumers'
import { STORE } from '../harness'
import { visit } from './visit'

/* What comes back of the money that an invoice was paid with, as the console shows it. */

let world: BillingWorld
let billing: string
beforeAll(async () => {
  world = await billingWorld()
  billing = `/console/p/${world.project}/platform/billing`
})

/** The words of a page or of a part of it. */
const plain = (html: string) =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
const pageOf = async (path: string) => (await visit(path, world.owner.token)).text
/** The list of effects on the page of an event, or on the one that asks before its replay. */
const effectsOn = async (path: string) => /<ul class="effects".*?<\/ul>(?=<)/s.exec(await pageOf(path))?.[0] ?? ''

/** An invoice of $24.00 that a payment paid. */
function paid(fields: Fields = {}) {
  const [payment, id, number] = [anId('pi'), anId('in'), anId('A')]
  const invoice = stripeInvoice({ id, number, status: 'paid', amount_paid: 2400, amount_remaining: 0, ...fields })
  const events = [
    stripeEventOf('invoice.paid', invoice, { at: T0 }),
    stripeEventOf('invoice_payment.paid', stripeInvoicePayment(id, payment), { at: T0 }),
  ]
  return { id, number, payment, events }
}

describe('an event about money that came back for an invoice', () => {
  const AT = { at: T0 + 60 }
  const refunded = (payment: string) =>
    stripeEventOf('charge.refunded', stripeCharge(payment, { amount_refunded: 1000 }), AT)

  it.each<[string, (payment: string) => object]>([
    ['a charge that was refunded', refunded],
    ['a refund', (payment) => stripeEventOf('refund.created', stripeRefund(payment), AT)],
    ['a dispute', (payment) => stripeEventOf('charge.dispute.created', stripeDispute(payment), AT)],
  ])('says what %s did to the invoice, and leads to it', async (_, event) => {
    const { id, number, payment, events } = paid()
    await world.deliver(...events)
    const [made = ''] = await world.deliver(event(payment))
    const at = `${billing}/webhooks/${made}`
    const says = async (path: string) => {
      const effects = await effectsOn(path)
      expect(plain(effects)).toMatch(new RegExp(`^Invoice .*${id} applied `))
      expect(effects).toContain(`href="${billing}/invoices/${id}?vendor=stripe"`)
    }
    await says(at)
    expect(plain(await effectsOn(at))).toContain(number)
    // So that a replay has something to do.
    await STORE.prepare(`DELETE FROM billing_objects WHERE kind = 'purchase' AND vendor_id = ?`).bind(id).run()
    await says(`${at}/replay`)
  })

  it('names a payment where no invoice is known', async () => {
    const payment = anId('pi')
    const [made = ''] = await world.deliver(refunded(payment))
    expect(plain(await effectsOn(`${billing}/webhooks/${made}`))).toMatch(new RegExp(`^Payment ${payment} no effect `))
  })

  it('is a change of the purchase where the invoice has one-time lines', async () => {
    const { id, payment, events } = paid({ lines: { object: 'list', data: [stripeOneTimeLine()], has_more: false } })
    await world.deliver(...events)
    const [made = ''] = await world.deliver(refunded(payment))
    const effects = await effectsOn(`${billing}/webhooks/${made}`)
    expect(plain(effects)).toMatch(/^Purchase .* applied /)
    expect(effects).toContain(`href="${billing}/purchases/${id}?vendor=stripe"`)
  })

  it('can be an adjustment of Paddle', async () => {
    const transaction = paddleTransaction({ status: 'completed' })
    const adjustment = paddleAdjustment(String(transaction.id))
    const [, made = '', late = ''] = await world.deliver(
      paddleEventOf('transaction.completed', transaction),
      paddleEventOf('adjustment.updated', adjustment, { at: '2026-01-03T00:00:00.000000Z' }),
      paddleEventOf(
        'adjustment.created',
        { ...adjustment, status: 'pending_approval' },
        { at: '2026-01-02T00:00:00.000000Z' },
      ),
    )
    for (const [event, result] of [
      [made, 'applied'],
      [late, 'superseded'],
    ]) {
      const effects = await effectsOn(`${billing}/webhooks/${event}`)
      expect(plain(effects)).toMatch(new RegExp(`^Invoice .*${transaction.id} ${result} `))
      expect(effects).toContain(`href="${billing}/invoices/${transaction.id}?vendor=paddle"`)
    }
  })
})

describe('an invoice of which money came back', () => {
  const back = (amount: number) => (payment: string) =>
    stripeEventOf('refund.created', stripeRefund(payment, { amount }), { at: T0 + 60 })
  const disputed = (status: string) => (payment: string) =>
    stripeEventOf('charge.dispute.updated', stripeDispute(payment, { amount: 2400, status }), { at: T0 + 60 })

  it.each<[string, (payment: string) => object, string]>([
    ['partially refunded', back(1000), '$24.00 $10.00 refunded'],
    ['refunded', back(2400), '$24.00 $24.00 refunded'],
    ['disputed', disputed('needs_response'), '$24.00'],
    ['charged back', disputed('lost'), '$24.00 $24.00 refunded'],
    ['paid', disputed('won'), '$24.00'],
  ])('is shown as %s in every list and on its own page', async (status, event, total) => {
    const customer = anId('cus')
    const { id, number, payment, events } = paid({ customer })
    await world.deliver(...events, event(payment))
    const api = as(world.project, world.owner.token)
    const consumer = (await api.put(customer)).body.id
    await api.pin(customer, consumer)
    for (const path of [
      `${billing}/invoices?customer=${customer}`,
      `${billing}/customers/stripe/${customer}`,
      `/console/p/${world.project}/platform/consumers/${consumer}?tab=billing`,
    ]) {
      const row = (await pageOf(path)).split('<tr>').find((one) => one.includes(`>${id}<`)) ?? ''
      const cells = row.split('</td>').map(plain)
      expect(cells, path).toContain(total)
      expect(cells, path).toContain(`${status} Test`)
    }
    const page = plain(await pageOf(`${billing}/invoices/${id}`))
    expect(page).toContain(` ${number} ${status} `)
    expect(page.includes('Refunded amount $0.00')).toBe(!total.includes('refunded'))
    const beginning = plain(await pageOf(`/console/p/${world.project}/platform/consumers/${consumer}`))
    expect(beginning).toContain(`Last invoice $24.00 ${status}`)
  })
})
