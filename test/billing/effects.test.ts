import { beforeAll, describe, expect, it } from 'vitest'
import {
  anId,
  type Fields,
  isoOf,
  SHAPES,
  type Shape,
  stripeInvoice,
  stripeItem,
  stripePaymentMethod,
  stripeSays,
  stripeSubscription,
  T0,
} from './payloads'
import { type BillingWorld, billingWorld, type List } from './world'

/* What each of Stripe's events does, through the real door: signed delivery, the queue's handler, the API's answer. */

const DAY = 86_400
const inBothShapes = <T>(table: readonly T[]) => SHAPES.flatMap((shape) => table.map((row) => ({ shape, ...row })))

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

/** Delivers one event of an object of its own, and holds the whole of what the API says then. */
async function check(list: List, kind: string, event: ReturnType<typeof stripeSays>, expected: Fields) {
  const { object, created } = { object: event.data.object, created: (event as { created?: number }).created }
  const [source_event_id] = (await world.say(event)) as [string]
  expect((await world.event(source_event_id)).status).toBe('processed')
  const row = await world.one(list, object.id as string)
  expect(row).toEqual({
    id: object.id,
    vendor: 'stripe',
    customer: object.customer,
    vendor_status: object.status ?? null,
    livemode: false,
    updated_at: isoOf(created as number),
    ambiguous: false,
    source_event_id,
    ...expected,
  })
  const [effect, ...others] = await world.effects(source_event_id)
  expect(others).toEqual([])
  expect(effect).toMatchObject({ kind, id: object.id, result: 'applied' })
  const { id: _, vendor: __, ambiguous: ___, source_event_id: ____, ...body } = row
  const told = Object.entries(body).filter(([, to]) => to !== null)
  expect(effect?.change).toEqual(Object.fromEntries(told.map(([field, to]) => [field, { from: null, to }])))
}

type Case = { type: string; fields: Fields; expected: Fields }

describe.each(SHAPES)("Stripe's subscriptions, in the shape of %s", (shape) => {
  const SUBSCRIPTION = {
    status: 'active',
    currency: 'USD',
    items: [{ id: 'si_1', price: 'price_monthly', product: 'prod_basic', quantity: 2 }],
    current_period_start: isoOf(T0),
    current_period_end: isoOf(T0 + 30 * DAY),
    trial_end: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    ended_at: null,
    default_payment_method: 'pm_1Default',
    scheduled_change: null,
  }
  const two = (a: Fields, b: Fields) => [
    stripeItem({ id: 'si_a', quantity: 1, ...a }, shape),
    stripeItem({ id: 'si_b', quantity: 7, price: 'price_seats', plan: null, ...b }, shape),
  ]
  const CASES: Case[] = [
    {
      type: 'created',
      fields: { status: 'trialing', trial_end: T0 + 7 * DAY },
      expected: { status: 'trialing', trial_end: isoOf(T0 + 7 * DAY) },
    },
    { type: 'created', fields: { status: 'incomplete' }, expected: { status: 'incomplete' } },
    { type: 'updated', fields: { status: 'past_due' }, expected: { status: 'past_due' } },
    { type: 'updated', fields: { status: 'unpaid' }, expected: { status: 'unpaid' } },
    {
      type: 'updated',
      fields: { cancel_at: T0 + 30 * DAY, cancel_at_period_end: true, canceled_at: T0 },
      expected: { cancel_at: isoOf(T0 + 30 * DAY), cancel_at_period_end: true, canceled_at: isoOf(T0) },
    },
    {
      type: 'updated',
      fields: { default_payment_method: { id: 'pm_2Expanded', object: 'payment_method' } },
      expected: { default_payment_method: 'pm_2Expanded' },
    },
    {
      type: 'updated',
      fields: { items: { object: 'list', data: two({}, {}) } },
      expected: {
        items: [
          { id: 'si_a', price: 'price_monthly', product: 'prod_basic', quantity: 1 },
          { id: 'si_b', price: 'price_seats', product: null, quantity: 7 },
        ],
      },
    },
    {
      type: 'deleted',
      fields: { status: 'canceled', canceled_at: T0, ended_at: T0 + 5 },
      expected: { status: 'canceled', canceled_at: isoOf(T0), ended_at: isoOf(T0 + 5) },
    },
    {
      type: 'updated',
      fields: { status: 'incomplete_expired', ended_at: T0 },
      expected: { status: 'incomplete_expired', ended_at: isoOf(T0) },
    },
    { type: 'paused', fields: { status: 'paused' }, expected: { status: 'paused' } },
    { type: 'resumed', fields: {}, expected: {} },
    {
      type: 'trial_will_end',
      fields: { status: 'trialing', trial_end: T0 + 3 * DAY },
      expected: { status: 'trialing', trial_end: isoOf(T0 + 3 * DAY) },
    },
    // What is pending is not what is: the items are the ones of before.
    { type: 'pending_update_applied', fields: { pending_update: null }, expected: {} },
    { type: 'pending_update_expired', fields: { pending_update: { expires_at: T0 + DAY } }, expected: {} },
  ]

  it.each(CASES)('customer.subscription.$type → $expected.status', ({ type, fields, expected }) =>
    check(
      'subscriptions',
      'subscription',
      stripeSays(`customer.subscription.${type}`, stripeSubscription(fields, shape), { shape }),
      { ...SUBSCRIPTION, ...expected },
    ),
  )

  it('of several items: the period that ends first, where each has its own', async () => {
    const later = { current_period_start: T0, current_period_end: T0 + 365 * DAY }
    const sooner = { current_period_start: T0 + DAY, current_period_end: T0 + 8 * DAY }
    const items = two(later, sooner)
    const id = anId('sub')
    const object = stripeSubscription({ id, items: { object: 'list', data: items } }, shape)
    await world.say(stripeSays('customer.subscription.created', object, { shape }))
    const own = shape === '2020-03-02' ? { start: T0, end: T0 + 30 * DAY } : { start: T0 + DAY, end: T0 + 8 * DAY }
    expect(await world.one('subscriptions', id)).toMatchObject({
      current_period_start: isoOf(own.start),
      current_period_end: isoOf(own.end),
    })
  })
})

describe.each(SHAPES)("Stripe's invoices, in the shape of %s", (shape) => {
  const INVOICE = {
    status: 'open',
    number: 'TESTS-0001',
    subscription: 'sub_1OfInvoice',
    currency: 'USD',
    total: 2400,
    amount_due: 2400,
    amount_paid: 0,
    period_start: isoOf(T0 - 30 * DAY),
    period_end: isoOf(T0),
    due_date: null,
    next_payment_attempt: null,
    hosted_invoice_url: 'https://invoice.stripe.com/i/acct_1Tests/test_1',
  }
  const PAID = { status: 'paid', amount_paid: 2400, amount_remaining: 0 }
  const paid = { status: 'paid', amount_paid: 2400 }
  const DRAFT = { status: 'draft', number: null, hosted_invoice_url: null }
  const RETRIED = { attempted: true, attempt_count: 1, next_payment_attempt: T0 + 3 * DAY }
  const retried = { next_payment_attempt: isoOf(T0 + 3 * DAY) }
  const CASES: Case[] = [
    { type: 'created', fields: DRAFT, expected: DRAFT },
    { type: 'finalized', fields: {}, expected: {} },
    {
      type: 'updated',
      fields: { ...DRAFT, total: 3000, amount_due: 2500 },
      expected: { ...DRAFT, total: 3000, amount_due: 2500 },
    },
    { type: 'sent', fields: { due_date: T0 + 14 * DAY }, expected: { due_date: isoOf(T0 + 14 * DAY) } },
    { type: 'overdue', fields: { due_date: T0 - DAY }, expected: { due_date: isoOf(T0 - DAY) } },
    { type: 'paid', fields: PAID, expected: paid },
    { type: 'payment_succeeded', fields: PAID, expected: paid },
    { type: 'payment_failed', fields: RETRIED, expected: retried },
    { type: 'payment_action_required', fields: RETRIED, expected: retried },
    { type: 'voided', fields: { status: 'void' }, expected: { status: 'void' } },
    { type: 'marked_uncollectible', fields: { status: 'uncollectible' }, expected: { status: 'uncollectible' } },
    { type: 'deleted', fields: { ...DRAFT, status: 'deleted' }, expected: { ...DRAFT, status: 'deleted' } },
    // "deleted" is none of the published statuses: the snapshot may still be the draft's.
    { type: 'deleted', fields: DRAFT, expected: { ...DRAFT, status: 'deleted' } },
    { type: 'finalized', fields: { subscription: null }, expected: { subscription: null } },
    { type: 'finalized', fields: { subscription: { id: 'sub_Expanded' } }, expected: { subscription: 'sub_Expanded' } },
  ]

  it.each(CASES)('invoice.$type → $expected.status', ({ type, fields, expected }) =>
    check('invoices', 'invoice', stripeSays(`invoice.${type}`, stripeInvoice(fields, shape), { shape }), {
      ...INVOICE,
      ...expected,
    }),
  )
})

describe("Stripe's payment methods", () => {
  const CARD = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2034 }
  const NEWER = { ...CARD, last4: '4444', exp_year: 2039 }
  const METHOD = { status: 'attached', type: 'card', card: CARD }
  const CASES: (Case & { previous?: Fields })[] = [
    { type: 'attached', fields: {}, expected: {} },
    { type: 'updated', fields: { card: NEWER }, previous: { card: CARD }, expected: { card: NEWER } },
    { type: 'automatically_updated', fields: { card: NEWER }, expected: { card: NEWER } },
    { type: 'attached', fields: { type: 'sepa_debit', card: undefined }, expected: { type: 'sepa_debit', card: null } },
    {
      type: 'detached',
      fields: { customer: null },
      previous: { customer: 'cus_1Tests' },
      expected: { status: 'detached', customer: 'cus_1Tests' },
    },
    { type: 'detached', fields: { customer: null }, expected: { status: 'detached', customer: null } },
  ]
  it.each(CASES)('payment_method.$type → $expected', ({ type, fields, previous, expected }) =>
    check(
      'payment-methods',
      'payment_method',
      stripeSays(`payment_method.${type}`, stripePaymentMethod(fields), previous ? { previous } : {}),
      { ...METHOD, ...expected },
    ),
  )

  it('a detached one keeps its row, and whose it was', async () => {
    const id = anId('pm')
    const attached = stripePaymentMethod({ id, customer: 'cus_Keeps' })
    await world.say(
      stripeSays('payment_method.attached', attached),
      stripeSays(
        'payment_method.detached',
        { ...attached, customer: null },
        { at: T0 + 60, previous: { customer: 'cus_Keeps' } },
      ),
    )
    const { body } = await world.api('/payment-methods?customer=cus_Keeps')
    expect(body.data).toEqual([expect.objectContaining({ id, status: 'detached', customer: 'cus_Keeps', card: CARD })])
  })
})

describe('anything else', () => {
  const OTHERS: [string, Fields][] = [
    ['invoice.upcoming', stripeInvoice({ id: undefined })],
    [
      'invoice_payment.paid',
      { id: 'inpay_1', object: 'invoice_payment', invoice: 'in_1', status: 'paid', amount_paid: 1 },
    ],
    ['invoiceitem.created', { id: 'ii_1', object: 'invoiceitem', invoice: 'in_1', customer: 'cus_1Tests' }],
    ['customer.created', { id: 'cus_1Tests', object: 'customer' }],
    ['customer.source.created', { id: 'card_1', object: 'card', customer: 'cus_1Tests' }],
    ['subscription_schedule.created', { id: 'sub_sched_1', object: 'subscription_schedule', status: 'active' }],
    ['payment_intent.succeeded', { id: 'pi_1', object: 'payment_intent', status: 'succeeded', amount: 2400 }],
    ['charge.refunded', { id: 'ch_1', object: 'charge', invoice: 'in_1', amount: 2400, currency: 'usd' }],
    ['payment_method.card_automatically_updated', stripePaymentMethod()],
  ]
  it.each(inBothShapes(OTHERS.map(([type, object]) => ({ type, object }))))(
    'is ignored, and writes no object: $type ($shape)',
    async ({ type, object, shape }) => {
      const before = await world.objects()
      const [id] = (await world.say(stripeSays(type, object, { shape: shape as Shape }))) as [string]
      expect(await world.event(id)).toMatchObject({ status: 'ignored', last_error: null })
      expect(await world.effects(id)).toEqual([])
      expect(await world.objects()).toEqual(before)
    },
  )
})
