import { beforeAll, describe, expect, it } from 'vitest'
import { call } from '../../harness'
import { anId, type Fields, stripeEventOf, stripeInvoice, stripeSubscription, T0 } from '../payloads'
import { type BillingWorld, billingWorld, type Shown } from '../world'
import {
  stripeCharge,
  stripeDispute,
  stripeInvoicePayment,
  stripeOneTimeLine,
  stripeRefund,
  stripeSession,
} from './payloads'

/* Purchases by name: what the events of one payment add up to, through ingest, the queue and the API. */

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

const sold = (fields: Fields & { payment_intent: string }, at = T0) =>
  stripeEventOf('checkout.session.completed', stripeSession(fields), { at })
const refunded = (type: string, refund: Fields, at: number, previous?: Fields) =>
  stripeEventOf(type, refund, { at, ...(previous && { previous }) })
const charged = (payment: string, amount_refunded: number, at: number, before: number) =>
  stripeEventOf('charge.refunded', stripeCharge(payment, { amount_refunded }), {
    at,
    previous: { amount_refunded: before },
  })
const disputed = (type: string, dispute: Fields, at: number, status?: string) =>
  stripeEventOf(`charge.dispute.${type}`, dispute, { at, ...(status && { previous: { status } }) })
const one = (id: string): Promise<Shown> => world.one('purchases', id)

/** All events in the order given, and the other way round. */
const bothWays = (events: object[]) => [events, events.toReversed()]

describe('a sale', () => {
  it('by Checkout has its amounts, its buyer and its time, and no items', async () => {
    const payment_intent = anId('pi')
    const session = stripeSession({ payment_intent, metadata: { order: 'o1' } })
    const [event] = await world.deliver(stripeEventOf('checkout.session.completed', session))
    expect(await one(payment_intent)).toMatchObject({
      ...{ id: payment_intent, vendor: 'stripe', status: 'paid', vendor_status: 'paid', customer: 'cus_1Tests' },
      ...{ currency: 'USD', subtotal: 4000, tax: 900, total: 4900, discount_amount: 0, refunded_amount: 0 },
      ...{ paid_at: '2026-01-01T00:00:00Z', created_at: '2025-12-31T23:59:00Z', metadata: { order: 'o1' } },
      ...{ items: null, items_missing: true, refunds: [], disputes: [], invoice: null, subscription: null },
      ...{ customer_email: 'jo@example.com', customer_name: 'Jo Williams', livemode: false },
      ...{ source_event_id: event, ambiguous: false, incomplete: false },
    })
    expect(await world.effects(event ?? '')).toMatchObject([
      { kind: 'purchase', id: payment_intent, result: 'applied' },
    ])
  })

  it('takes its items from metadata, from expanded lines, or from the metadata of its payment', async () => {
    const [a, b, c] = [anId('pi'), anId('pi'), anId('pi')]
    const line = {
      id: 'li_1',
      quantity: 3,
      amount_total: 4900,
      currency: 'usd',
      price: { id: 'price_1', product: 'prod_1' },
    }
    const intent = { id: c, object: 'payment_intent', amount_received: 4900, currency: 'usd', customer: 'cus_1Tests' }
    await world.deliver(
      sold({ payment_intent: a, metadata: { price_id: 'price_credits', quantity: '5' } }),
      sold({ payment_intent: b, line_items: { data: [line], has_more: false } }),
      stripeEventOf('payment_intent.succeeded', { ...intent, metadata: { product_id: 'prod_1' } }),
    )
    expect((await one(a)).items).toMatchObject([{ price: 'price_credits', product: null, quantity: 5 }])
    expect((await one(b)).items).toMatchObject([{ id: 'li_1', price: 'price_1', product: 'prod_1', quantity: 3 }])
    expect(await one(c)).toMatchObject({ status: 'paid', total: 4900, items: [{ product: 'prod_1', quantity: 1 }] })
    // The same payment by its checkout: what it was for stays known.
    await world.deliver(sold({ payment_intent: c }))
    expect(await one(c)).toMatchObject({
      customer_email: 'jo@example.com',
      items_missing: false,
      items: [{ product: 'prod_1' }],
    })
  })

  it('takes its items from the keys of metadata that the project has chosen, and else from its payment link', async () => {
    const [a, b, c] = [anId('pi'), anId('pi'), anId('pi')]
    const choose = (purchase_item_keys: unknown) =>
      call(`/platform/v1/projects/${world.project}`, {
        method: 'PATCH',
        token: world.owner.token,
        json: { settings: { purchase_item_keys } },
      })
    for (const wrong of [[], ['sku', 'sku'], ['a', 'b', 'c'], ['a b'], 'sku'])
      expect((await choose(wrong)).status, JSON.stringify(wrong)).toBe(422)
    expect((await choose(['sku', 'line'])).status).toBe(200)
    const metadata = { sku: 'price_1', line: 'prod_1', price_id: 'price_2', quantity: 2 }
    const [, , third] = await world.deliver(
      sold({ payment_intent: a, metadata, payment_link: 'plink_1' }),
      sold({ payment_intent: b, metadata: { price_id: 'price_2' }, payment_link: 'plink_1' }),
      sold({ payment_intent: c, metadata: { price_id: 'price_2' } }),
    )
    expect((await one(a)).items).toMatchObject([{ price: 'price_1', product: 'prod_1', quantity: 2 }])
    expect((await one(b)).items).toMatchObject([{ price: 'plink_1', product: null, quantity: null }])
    expect((await one(c)).items).toBeNull()
    // A replay reads an event again, with the keys of then.
    await choose(['price_id', 'product_id'])
    await world.api(`/webhooks/${third}/replay`, { method: 'POST' })
    await world.queue.pump()
    expect((await one(c)).items).toMatchObject([{ price: 'price_2', quantity: 1 }])
  })

  it('that takes days is pending until it is paid or has failed', async () => {
    const [a, b] = [anId('pi'), anId('pi')]
    const later = (type: string, payment_intent: string, payment_status: string) =>
      stripeEventOf(`checkout.session.${type}`, stripeSession({ payment_intent, payment_status }), { at: T0 + 86_400 })
    await world.deliver(sold({ payment_intent: a, payment_status: 'unpaid' }))
    expect(await one(a)).toMatchObject({ status: 'pending', paid_at: null })
    await world.deliver(
      later('async_payment_succeeded', a, 'paid'),
      later('async_payment_failed', b, 'unpaid'),
      sold({ payment_intent: b, payment_status: 'unpaid' }),
    )
    expect(await one(a)).toMatchObject({ status: 'paid', paid_at: '2026-01-02T00:00:00Z' })
    expect(await one(b)).toMatchObject({ status: 'failed', paid_at: null })
  })

  it('without a payment, a free one, has the id of its session; a guest has no customer', async () => {
    const session = stripeSession({
      payment_intent: null,
      customer: null,
      payment_status: 'no_payment_required',
      amount_total: 0,
    })
    await world.deliver(stripeEventOf('checkout.session.completed', session))
    expect(await one(String(session.id))).toMatchObject({ status: 'paid', customer: null, total: 0 })
  })

  it('is no renewal, no invoice without one-time lines, no charge and no payment alone', async () => {
    const payment = anId('pi')
    const ids = await world.deliver(
      stripeEventOf('charge.succeeded', stripeCharge(payment)),
      stripeEventOf('payment_intent.succeeded', {
        id: payment,
        object: 'payment_intent',
        currency: 'usd',
        metadata: {},
      }),
      stripeEventOf('checkout.session.completed', stripeSession({ mode: 'subscription', payment_intent: null })),
      stripeEventOf('checkout.session.expired', stripeSession({ payment_intent: payment })),
      stripeEventOf('invoice.paid', stripeInvoice({ status: 'paid' })),
      stripeEventOf('charge.updated', stripeCharge(payment), { previous: { metadata: {} } }),
    )
    for (const id of ids) expect((await world.effects(id)).filter(({ kind }) => kind === 'purchase')).toEqual([])
    expect((await world.api(`/purchases/${payment}`)).status).toBe(404)
  })
})

describe('money back', () => {
  it('before its sale waits for it, in no list', async () => {
    const payment = anId('pi')
    const [refund] = await world.deliver(refunded('refund.created', stripeRefund(payment), T0 + 60))
    expect(await world.effects(refund ?? '')).toMatchObject([
      {
        ...{ kind: 'purchase', id: payment, result: 'unplaced' },
        change: { refunded_amount: { from: 0, to: 1000 }, refunds: { from: [], to: [{ amount: 1000 }] } },
      },
    ])
    for (const path of [`/purchases/${payment}`, `/purchases/${payment}/timeline`])
      expect((await world.api(path)).status).toBe(404)
    const feed = async () => (await world.api('/../changes?types=purchase.*')).body.data as { object: { id: string } }[]
    expect((await feed()).filter(({ object }) => object.id === payment)).toEqual([])
    await world.deliver(sold({ payment_intent: payment }))
    expect(await one(payment)).toMatchObject({
      ...{ status: 'partially_refunded', refunded_amount: 1000, source_event_id: refund },
      refunds: [{ amount: 1000, status: 'succeeded', reason: 'requested_by_customer', event_id: refund }],
    })
    expect((await feed()).filter(({ object }) => object.id === payment)).toHaveLength(1)
    expect((await world.timeline('purchases', payment)).map(({ result }) => result)).toEqual(['unplaced', 'applied'])
  })

  it.each(['in order', 'the other way round'])('by two refunds in a second counts both: %s', async (order) => {
    const payment = anId('pi')
    const [a, b] = [stripeRefund(payment), stripeRefund(payment, { amount: 3900 })]
    const events = [
      sold({ payment_intent: payment }),
      refunded('refund.created', a, T0 + 60),
      charged(payment, 1000, T0 + 60, 0),
      refunded('refund.created', b, T0 + 60),
      charged(payment, 4900, T0 + 60, 1000),
    ]
    await world.deliver(...(bothWays(events)[Number(order !== 'in order')] ?? []))
    expect(await one(payment)).toMatchObject({ status: 'refunded', refunded_amount: 4900, ambiguous: false })
    expect((await one(payment)).refunds).toHaveLength(2)
  })

  it.each([
    ['failed', 'refund.failed'],
    ['canceled', 'refund.updated'],
  ])('that %s after charge.refunded is no money back', async (status, type) => {
    for (const way of [0, 1]) {
      const payment = anId('pi')
      const refund = stripeRefund(payment, { amount: 4900 })
      const events = [
        sold({ payment_intent: payment }),
        refunded('refund.created', refund, T0 + 60),
        charged(payment, 4900, T0 + 60, 0),
        refunded(type, { ...refund, status }, T0 + 600, { status: 'succeeded' }),
      ]
      await world.deliver(...(bothWays(events)[way] ?? []))
      expect(await one(payment)).toMatchObject({ status: 'paid', refunded_amount: 0, refunds: [{ status }] })
    }
  })

  it('that only the charge knows counts, once', async () => {
    const payment = anId('pi')
    await world.deliver(sold({ payment_intent: payment }), charged(payment, 1500, T0 + 60, 0))
    expect(await one(payment)).toMatchObject({ status: 'partially_refunded', refunded_amount: 1500, refunds: [] })
    await world.deliver(refunded('refund.updated', stripeRefund(payment, { amount: 500 }), T0 + 90))
    expect(await one(payment)).toMatchObject({ refunded_amount: 1500 })
  })

  it('by a `refund.failed` whose refund succeeded is what the refund says', async () => {
    const payment = anId('pi')
    await world.deliver(sold({ payment_intent: payment }), refunded('refund.failed', stripeRefund(payment), T0 + 60))
    expect(await one(payment)).toMatchObject({ refunded_amount: 1000, refunds: [{ status: 'succeeded' }] })
  })
})

describe('a dispute', () => {
  it('is lost, appealed and won: none of these is final', async () => {
    const payment = anId('pi')
    const dispute = stripeDispute(payment)
    const said = async (status: string, at: number, before?: string) => {
      await world.deliver(disputed(before ? 'updated' : 'created', { ...dispute, status }, at, before))
      const { status: own, refunded_amount, disputes } = await one(payment)
      return [own, refunded_amount, (disputes as { state: string }[])[0]?.state]
    }
    await world.deliver(sold({ payment_intent: payment }))
    expect(await said('needs_response', T0 + 120)).toEqual(['disputed', 0, 'open'])
    expect(await said('lost', T0 + 240, 'needs_response')).toEqual(['charged_back', 4900, 'lost'])
    expect(await said('appeal_under_review', T0 + 360, 'lost')).toEqual(['charged_back', 4900, 'lost'])
    expect(await said('won', T0 + 480, 'appeal_under_review')).toEqual(['paid', 0, 'won'])
  })

  it.each([
    ['an inquiry', 'warning_needs_response', 4900, ['paid', 0, 'inquiry']],
    ['an inquiry that was closed', 'warning_closed', 4900, ['paid', 0, 'none']],
    ['of a part', 'lost', 700, ['charged_back', 700, 'lost']],
    ['one that was prevented', 'prevented', 4900, ['paid', 0, 'none']],
    ['with a status that we do not know', 'contemplated', 4900, ['paid', 0, 'unknown']],
  ])('%s', async (_, status, amount, expected) => {
    const payment = anId('pi')
    await world.deliver(
      disputed('created', stripeDispute(payment, { status, amount }), T0 + 120),
      sold({ payment_intent: payment }),
    )
    const shown = await one(payment)
    expect([shown.status, shown.refunded_amount, (shown.disputes as { state: string }[])[0]?.state]).toEqual(expected)
    expect(shown.disputes).toMatchObject([{ amount, vendor_status: status, due_at: '2026-01-11T00:00:00Z' }])
  })
})

describe('an invoice', () => {
  const lines = { object: 'list', data: [stripeOneTimeLine()], has_more: false, total_count: 1 }
  const paid = (id: string, fields: Fields = {}) =>
    stripeEventOf('invoice.paid', stripeInvoice({ id, status: 'paid', total: 4900, lines, ...fields }), { at: T0 + 1 })

  it.each([
    'link, refund, sale',
    'refund, link, sale',
    'sale, refund, link',
    'sale, link, refund',
    'refund, sale, link',
  ])('has the refunds of its payment, in any order: %s', async (order) => {
    const [id, payment] = [anId('in'), anId('pi')]
    const events: Record<string, object> = {
      sale: paid(id, { subscription: null }),
      link: stripeEventOf('invoice_payment.paid', stripeInvoicePayment(id, payment)),
      refund: refunded('refund.created', stripeRefund(payment), T0 + 60),
    }
    await world.deliver(...order.split(', ').map((name) => events[name] as object))
    expect(await one(id)).toMatchObject({
      ...{ status: 'partially_refunded', refunded_amount: 1000, invoice: id, subscription: null, ambiguous: false },
      items: [{ price: 'price_setup', product: 'prod_setup', amount: 4900, quantity: 1 }],
    })
    expect((await world.api(`/purchases/${payment}`)).status).toBe(404)
    expect((await world.timeline('purchases', id)).length).toBeGreaterThanOrEqual(2)
    // Whole rows do not depend on the order.
    const rows = (await world.objects()).filter(({ vendor_id }) => vendor_id === id || vendor_id === payment)
    const parts = rows.map(({ candidates }) => (JSON.parse(candidates) as { part?: string }[]).map(({ part }) => part))
    expect(parts).toContainEqual([undefined, 'link'])
    expect(parts.flat().filter((part) => part?.startsWith('refund:'))).toHaveLength(1)
  })

  it('of before 2025-03-31 names its payment, and a charge its invoice', async () => {
    const [id, payment] = [anId('in'), anId('pi')]
    const line = {
      id: 'il_1',
      type: 'invoiceitem',
      proration: false,
      price: { id: 'price_1', type: 'one_time', product: 'prod_1' },
    }
    const old = stripeInvoice(
      { id, status: 'paid', payment_intent: payment, lines: { data: [{ ...line, amount: 4900, currency: 'usd' }] } },
      '2020-03-02',
    )
    const charge = stripeCharge(payment, { invoice: id, amount_refunded: 2400 })
    await world.deliver(
      stripeEventOf('charge.refunded', charge, { at: T0 + 60, previous: { amount_refunded: 0 }, shape: '2020-03-02' }),
      stripeEventOf('invoice.paid', old, { shape: '2020-03-02' }),
    )
    expect(await one(id)).toMatchObject({ status: 'refunded', refunded_amount: 2400, items: [{ price: 'price_1' }] })
  })

  it('of a subscription with a one-time item is a purchase of that item alone', async () => {
    const id = anId('in')
    const proration = stripeOneTimeLine({ parent: { invoice_item_details: { proration: true } } })
    const credit = stripeOneTimeLine({ amount: -100 })
    const recurring = stripeOneTimeLine({ parent: { subscription_item_details: { proration: false } } })
    await world.deliver(paid(id, { lines: { data: [recurring, stripeOneTimeLine(), proration, credit] } }))
    const shown = await one(id)
    expect(shown).toMatchObject({ subscription: 'sub_1OfInvoice', total: 4900 })
    expect(shown.items).toHaveLength(1)
  })

  it('of a renewal that was refunded makes no purchase, whatever is known of its payment', async () => {
    const [id, payment] = [anId('in'), anId('pi')]
    const before = (await world.api('/purchases?limit=100')).body.data.length
    await world.deliver(
      charged(payment, 2400, T0 + 60, 0),
      stripeEventOf('invoice_payment.paid', stripeInvoicePayment(id, payment)),
      stripeEventOf('invoice.paid', stripeInvoice({ id, status: 'paid' })),
      stripeEventOf('customer.subscription.updated', stripeSubscription()),
    )
    for (const of of [id, payment]) expect((await world.api(`/purchases/${of}`)).status).toBe(404)
    expect((await world.api('/purchases?limit=100')).body.data.length).toBe(before)
  })
})
