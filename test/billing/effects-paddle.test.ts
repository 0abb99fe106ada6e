import { beforeAll, describe, expect, it } from 'vitest'
import { EMPTY_INVOICE, EMPTY_SUBSCRIPTION } from './empty'
import {
  anId,
  type Fields,
  PADDLE_T0,
  paddleEventOf,
  paddleItem,
  paddlePayment,
  paddlePaymentMethod,
  paddleSubscription,
  paddleTransaction,
} from './payloads'
import { type BillingWorld, billingWorld, type List } from './world'

/* What each of Paddle's events does, from the signed delivery to the API's answer. */

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

type Case = { type: string; fields: Fields; expected: Fields }

/** Delivers one event of a new entity, and checks everything that the API then shows of it. */
async function check(list: List, event: ReturnType<typeof paddleEventOf>, expected: Fields) {
  const { data } = event
  const [source_event_id] = (await world.deliver(event)) as [string]
  expect(await world.event(source_event_id)).toMatchObject({ status: 'processed', last_error: null })
  expect(await world.one(list, data.id as string)).toEqual({
    id: data.id,
    vendor: 'paddle',
    customer: data.customer_id,
    vendor_status: data.status ?? null,
    livemode: true, // of the connection
    created_at: data.created_at ?? data.saved_at,
    updated_at: event.occurred_at,
    metadata: null,
    consumer_id: null,
    ambiguous: false,
    incomplete: false,
    source_event_id,
    ...expected,
  })
}

describe("Paddle's subscriptions", () => {
  const END = '2026-02-01T00:00:00.449123Z'
  const ITEM = {
    id: null,
    price: 'pri_monthly',
    price_name: null,
    lookup_key: null,
    variant: null,
    product: 'pro_chat',
    quantity: 10,
    amount: 3240,
    amount_decimal: null,
    currency: 'USD',
    interval: null,
    interval_count: null,
    usage_type: null,
    current_period_start: null,
    current_period_end: null,
  }
  const SUBSCRIPTION = {
    ...EMPTY_SUBSCRIPTION,
    status: 'active',
    currency: 'USD',
    items: [ITEM],
    started_at: null,
    billing_cycle_anchor: null,
    next_billed_at: '2026-02-01T00:00:00.449123Z',
    collection_method: 'charge_automatically',
    current_period_start: '2026-01-01T00:00:00.449123Z',
    current_period_end: END,
    cancel_at_period_end: false,
    default_payment_method: null,
  }
  const cancel = { action: 'cancel', effective_at: END, resume_at: null }
  const pause = { action: 'pause', effective_at: END, resume_at: '2026-03-01T00:00:00.1Z' }
  const TRIAL = { starts_at: '2026-01-01T00:00:00Z', ends_at: '2026-01-15T00:00:00.123456789Z' }
  const CASES: Case[] = [
    { type: 'created', fields: {}, expected: {} },
    { type: 'activated', fields: {}, expected: {} },
    {
      type: 'trialing',
      fields: { status: 'trialing', items: [paddleItem({ trial_dates: TRIAL })] },
      expected: { status: 'trialing', trial_start: TRIAL.starts_at, trial_end: TRIAL.ends_at },
    },
    {
      type: 'updated',
      fields: { scheduled_change: cancel },
      expected: { scheduled_change: cancel, cancel_at: END, cancel_at_period_end: true },
    },
    {
      type: 'updated',
      fields: { scheduled_change: { ...cancel, effective_at: '2026-01-20T00:00:00Z' } },
      expected: {
        scheduled_change: { ...cancel, effective_at: '2026-01-20T00:00:00Z' },
        cancel_at: '2026-01-20T00:00:00Z',
      },
    },
    { type: 'updated', fields: { scheduled_change: pause }, expected: { scheduled_change: pause } },
    {
      type: 'updated',
      fields: { items: [paddleItem(), paddleItem({ price: { id: 'pri_seat' }, product: undefined, quantity: 3 })] },
      expected: {
        items: [ITEM, { ...ITEM, price: 'pri_seat', product: null, quantity: 3, amount: null, currency: null }],
      },
    },
    { type: 'past_due', fields: { status: 'past_due' }, expected: { status: 'past_due' } },
    {
      type: 'paused',
      fields: { status: 'paused', current_billing_period: null },
      expected: { status: 'paused', current_period_start: null, current_period_end: null },
    },
    { type: 'resumed', fields: {}, expected: {} },
    {
      type: 'canceled',
      fields: { status: 'canceled', canceled_at: '2026-01-01T00:00:00.2Z', current_billing_period: null },
      expected: {
        status: 'canceled',
        canceled_at: '2026-01-01T00:00:00.2Z',
        ended_at: '2026-01-01T00:00:00.2Z',
        current_period_start: null,
        current_period_end: null,
      },
    },
    { type: 'imported', fields: { currency_code: 'EUR' }, expected: { currency: 'EUR' } },
  ]
  it.each(CASES)('subscription.$type → $expected', ({ type, fields, expected }) =>
    check('subscriptions', paddleEventOf(`subscription.${type}`, paddleSubscription(fields)), {
      ...SUBSCRIPTION,
      ...expected,
    }),
  )
})

describe("Paddle's transactions", () => {
  const INVOICE = {
    ...EMPTY_INVOICE,
    subtotal: 3240,
    discount_amount: 0,
    tax: 400,
    amount_remaining: 3640,
    lines: { data: [], has_more: false },
    billing_reason: 'subscription_recurring',
    collection_method: null,
    attempt_count: 0,
    payment_intent: null,
    hosted_url: null,
    status: 'draft',
    number: null,
    subscription: 'sub_1oftransaction',
    currency: 'USD',
    total: 3640,
    amount_due: 3640,
    amount_paid: 0,
    period_start: '2026-01-01T00:00:00Z',
    period_end: '2026-02-01T00:00:00Z',
    hosted_invoice_url: null,
  }
  const paid = { totals: { balance: '0' } }
  const CASES: Case[] = [
    { type: 'created', fields: { status: 'draft' }, expected: {} },
    { type: 'ready', fields: { status: 'ready' }, expected: {} },
    {
      type: 'billed',
      fields: { status: 'billed', invoice_number: '325-10566' },
      expected: { status: 'open', number: '325-10566' },
    },
    { type: 'past_due', fields: { status: 'past_due' }, expected: { status: 'open' } },
    { type: 'payment_failed', fields: { status: 'past_due' }, expected: { status: 'open' } },
    {
      type: 'paid',
      fields: { status: 'paid', ...paid },
      expected: { status: 'paid', amount_paid: 3640, amount_remaining: 0 },
    },
    {
      type: 'completed',
      fields: { status: 'completed', ...paid },
      expected: { status: 'paid', amount_paid: 3640, amount_remaining: 0 },
    },
    { type: 'canceled', fields: { status: 'canceled' }, expected: { status: 'void' } },
    // The status is that of the snapshot, whatever the event's name.
    { type: 'updated', fields: { status: 'billed' }, expected: { status: 'open' } },
    {
      type: 'revised',
      fields: { status: 'completed', ...paid },
      expected: { status: 'paid', amount_paid: 3640, amount_remaining: 0 },
    },
    { type: 'created', fields: { subscription_id: null }, expected: { subscription: null } },
    {
      type: 'updated',
      fields: { billing_period: null, totals: { total: '1000', grand_total: '900', balance: '250' } },
      expected: {
        period_start: null,
        period_end: null,
        total: 1000,
        amount_due: 900,
        amount_paid: 650,
        amount_remaining: 250,
      },
    },
  ]
  it.each(CASES)('transaction.$type of $fields → $expected', ({ type, fields, expected }) =>
    check('invoices', paddleEventOf(`transaction.${type}`, paddleTransaction(fields)), { ...INVOICE, ...expected }),
  )
})

describe("Paddle's payment methods", () => {
  const METHOD = {
    status: 'attached',
    type: 'card',
    card: null,
    last4: null,
    bank: null,
    wallet: null,
    billing_details: null,
    is_default: null,
  }
  const UNSAID = { funding: null, country: null, fingerprint: null }
  const CARD = { brand: 'visa', last4: '3184', exp_month: 1, exp_year: 2030, ...UNSAID }
  const HOLDER = { name: 'Jo Williams', email: null, phone: null, address: null }
  const LATER = '2026-01-02T00:00:00.5Z'
  const CASES: Case[] = [
    { type: 'saved', fields: {}, expected: {} },
    { type: 'saved', fields: { type: 'paypal' }, expected: { type: 'paypal' } },
    { type: 'deleted', fields: { deletion_reason: 'api' }, expected: { status: 'detached' } },
  ]
  it.each(CASES)('payment_method.$type → $expected', ({ type, fields, expected }) =>
    check('payment-methods', paddleEventOf(`payment_method.${type}`, paddlePaymentMethod(fields)), {
      ...METHOD,
      ...expected,
    }),
  )

  const saved = (id: string) => paddleEventOf('payment_method.saved', paddlePaymentMethod({ id }))
  const paidBy = (payments: unknown[], at = PADDLE_T0) =>
    paddleEventOf('transaction.completed', paddleTransaction({ status: 'completed', payments }), { at })

  it.each(['the card before its payment method', 'the payment method before its card'])(
    '%s: shown with it',
    async (order) => {
      const id = anId('paymtd')
      const events = [paidBy([paddlePayment(id)]), saved(id)]
      const ids = await world.deliver(...(order.startsWith('the card') ? events : events.toReversed()))
      const source_event_id = order.startsWith('the card') ? ids[1] : ids[0]
      const row = await world.one('payment-methods', id)
      expect(row).toMatchObject({ id, ...METHOD, card: CARD, last4: '3184', billing_details: HOLDER, source_event_id })
      expect((await world.api('/payment-methods?limit=100')).body.data).toContainEqual(row)
      // Still there when it is detached.
      await world.deliver(paddleEventOf('payment_method.deleted', paddlePaymentMethod({ id }), { at: LATER }))
      expect(await world.one('payment-methods', id)).toMatchObject({ status: 'detached', card: CARD })
    },
  )

  it('a card alone does not make a payment method', async () => {
    const id = anId('paymtd')
    const [event] = (await world.deliver(paidBy([paddlePayment(id)]))) as [string]
    expect((await world.api(`/payment-methods/${id}`)).status).toBe(404)
    const [invoice, card] = await world.effects(event)
    expect(invoice).toMatchObject({ kind: 'invoice', result: 'applied' })
    const change = { card: { from: null, to: CARD } }
    expect(card).toEqual({ kind: 'payment_card', id, result: 'applied', change })
    // Once the payment method has an event of its own, its timeline includes the payment that its card comes from.
    await world.deliver(saved(id))
    expect((await world.timeline('payment-methods', id)).map(({ result, change }) => [result, change])).toEqual([
      ['applied', expect.objectContaining({ status: { from: null, to: 'attached' } })],
      ['applied', change],
    ])
  })

  it('the card comes from the later payment, in either order', async () => {
    for (const flip of [false, true]) {
      const id = anId('paymtd')
      const early = paidBy([paddlePayment(id)])
      const late = paidBy([paddlePayment(id, { expiry_year: 2035 })], LATER)
      await world.deliver(saved(id), ...(flip ? [late, early] : [early, late]))
      expect((await world.one('payment-methods', id)).card).toEqual({ ...CARD, exp_year: 2035 })
    }
  })

  it('several payments of a transaction: each payment method gets its own card, from its last attempt', async () => {
    const [a, b, c] = [anId('paymtd'), anId('paymtd'), anId('paymtd')]
    const payments = [
      paddlePayment(a, { last4: '0002' }, { created_at: '2026-01-01T00:00:00.9Z', status: 'captured' }),
      paddlePayment(b, { type: 'mastercard', last4: '1111' }),
      paddlePayment(a, { last4: '0001' }, { created_at: '2026-01-01T00:00:00.85Z', status: 'error' }),
      paddlePayment(c, {}, { method_details: { type: 'paypal', card: null } }),
      paddlePayment('', {}, { payment_method_id: null }),
    ]
    const [event] = (await world.deliver(paidBy(payments), saved(a), saved(b), saved(c))) as [string]
    expect((await world.one('payment-methods', a)).card).toEqual({ ...CARD, last4: '0002' })
    expect((await world.one('payment-methods', b)).card).toEqual({ ...CARD, brand: 'mastercard', last4: '1111' })
    expect((await world.one('payment-methods', c)).card).toBeNull()
    // It is in the timeline of each of these payment methods.
    for (const id of [a, b]) {
      expect((await world.timeline('payment-methods', id)).map(({ event_id }) => event_id)).toContain(event)
    }
  })
})

describe('any other event', () => {
  it.each([
    ['customer.created', { status: 'active' }],
    ['address.created', { id: 'add_1tests', customer_id: 'ctm_1tests' }],
    ['adjustment.created', { id: 'adj_1', action: 'refund', status: 'approved' }],
    ['price.updated', { id: 'pri_1', product_id: 'pro_1', status: 'active' }],
    ['payout.paid', { id: 'pay_1', amount: '100', currency_code: 'USD', status: 'paid' }],
    ['payment_method.unheard_of', paddlePaymentMethod()],
  ])('is ignored, and writes no object: %s', async (type, data) => {
    const before = await world.objects()
    const [id] = (await world.deliver(paddleEventOf(type, data))) as [string]
    expect(await world.event(id)).toMatchObject({ status: 'ignored', last_error: null })
    expect(await world.effects(id)).toEqual([])
    expect(await world.objects()).toEqual(before)
  })
})
