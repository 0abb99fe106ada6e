import { beforeAll, describe, expect, it } from 'vitest'
import { EMPTY_INVOICE, EMPTY_SUBSCRIPTION, NO_MONEY_BACK } from './empty'
import {
  anId,
  type Fields,
  isoOf,
  SHAPES,
  type Shape,
  stripeEventOf,
  stripeInvoice,
  stripeItem,
  stripePaymentMethod,
  stripeSubscription,
  T0,
} from './payloads'
import { type BillingWorld, billingWorld, type List } from './world'

/* What each of Stripe's events does, from the signed delivery to the API's answer. */

const DAY = 86_400
const inBothShapes = <T>(table: readonly T[]) => SHAPES.flatMap((shape) => table.map((row) => ({ shape, ...row })))

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

/** Delivers one event of a new object, and checks everything that the API then shows of it. */
async function check(list: List, kind: string, event: ReturnType<typeof stripeEventOf>, expected: Fields) {
  const { object, created } = { object: event.data.object, created: (event as { created?: number }).created }
  const [source_event_id] = (await world.deliver(event)) as [string]
  expect((await world.event(source_event_id)).status).toBe('processed')
  const row = await world.one(list, object.id as string)
  expect(row).toEqual({
    id: object.id,
    vendor: 'stripe',
    customer: object.customer,
    vendor_status: object.status ?? null,
    livemode: false,
    created_at: isoOf(T0),
    updated_at: isoOf(created as number),
    metadata: {},
    consumer_id: null,
    ambiguous: false,
    incomplete: false,
    source_event_id,
    ...expected,
  })
  const [effect, ...others] = await world.effects(source_event_id)
  expect(others).toEqual([])
  expect(effect).toMatchObject({ kind, id: object.id, result: 'applied' })
  // Not from the vendor's object, or another name of another field.
  const apart = ['id', 'vendor', 'ambiguous', 'incomplete', 'source_event_id', 'is_default']
  const told = Object.entries(row).filter(([field, to]) => to !== null && !apart.includes(field) && !OLD.has(field))
  expect(effect?.change).toEqual(
    Object.fromEntries(told.map(([field, to]) => [field, HIDING.includes(field) ? HIDDEN : { from: null, to }])),
  )
}

/** The former names of two fields, and what is in another row. */
const OLD = new Set(['due_date', 'hosted_invoice_url', ...Object.keys(NO_MONEY_BACK)])
/** What effects say no value of, because it is about a person or may be. */
const HIDING = ['billing_details', 'cancellation', 'customer_tax_ids', 'metadata']
const HIDDEN = { from: null, to: null, personal: true }

type Case = { type: string; fields: Fields; expected: Fields }

describe.each(SHAPES)("Stripe's subscriptions, in the shape of %s", (shape) => {
  const PERIOD = { current_period_start: isoOf(T0), current_period_end: isoOf(T0 + 30 * DAY) }
  const NO_PERIOD = { current_period_start: null, current_period_end: null }
  const ITEM = {
    id: 'si_1',
    price: 'price_monthly',
    price_name: null,
    lookup_key: null,
    variant: null,
    product: 'prod_basic',
    quantity: 2,
    amount: 1200,
    amount_decimal: null,
    currency: 'USD',
    interval: 'month',
    interval_count: 1,
    usage_type: 'licensed',
    ...(shape === '2020-03-02' ? NO_PERIOD : PERIOD),
  }
  const SUBSCRIPTION = {
    ...EMPTY_SUBSCRIPTION,
    status: 'active',
    currency: 'USD',
    items: [ITEM],
    started_at: isoOf(T0),
    billing_cycle_anchor: isoOf(T0),
    next_billed_at: null,
    collection_method: 'charge_automatically',
    current_period_start: isoOf(T0),
    current_period_end: isoOf(T0 + 30 * DAY),
    cancel_at_period_end: false,
    default_payment_method: 'pm_1Default',
  }
  /** Of an item whose price is only an id. */
  const BARE = { product: null, amount: null, currency: null, interval: null, interval_count: null, usage_type: null }
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
          { ...ITEM, id: 'si_a', quantity: 1 },
          { ...ITEM, ...BARE, id: 'si_b', price: 'price_seats', quantity: 7 },
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
    // A pending update has not happened yet: the items are the old ones.
    { type: 'pending_update_applied', fields: { pending_update: null }, expected: {} },
    { type: 'pending_update_expired', fields: { pending_update: { expires_at: T0 + DAY } }, expected: {} },
  ]

  it.each(CASES)('customer.subscription.$type → $expected.status', ({ type, fields, expected }) =>
    check(
      'subscriptions',
      'subscription',
      stripeEventOf(`customer.subscription.${type}`, stripeSubscription(fields, shape), { shape }),
      { ...SUBSCRIPTION, ...expected },
    ),
  )

  it('several items with periods of their own: the period that ends first is shown', async () => {
    const later = { current_period_start: T0, current_period_end: T0 + 365 * DAY }
    const sooner = { current_period_start: T0 + DAY, current_period_end: T0 + 8 * DAY }
    const items = two(later, sooner)
    const id = anId('sub')
    const object = stripeSubscription({ id, items: { object: 'list', data: items } }, shape)
    await world.deliver(stripeEventOf('customer.subscription.created', object, { shape }))
    const own = shape === '2020-03-02' ? { start: T0, end: T0 + 30 * DAY } : { start: T0 + DAY, end: T0 + 8 * DAY }
    expect(await world.one('subscriptions', id)).toMatchObject({
      current_period_start: isoOf(own.start),
      current_period_end: isoOf(own.end),
    })
  })
})

it('an effect has the status, amounts and times also where a list takes all the room', async () => {
  const items = { object: 'list', data: Array.from({ length: 11 }, (_, n) => stripeItem({ id: `si_${n}` })) }
  const description = 'x'.repeat(400)
  const [event] = (await world.deliver(
    stripeEventOf('customer.subscription.created', stripeSubscription({ items, description })),
  )) as [string]
  const change = (await world.effects(event))[0]?.change ?? {}
  // Alone, the items would fit.
  const row = await world.one('subscriptions', (await world.event(event)).decoded_summary?.subscription as string)
  expect(JSON.stringify(row.items).length).toBeLessThan(4000 - 300)
  expect(Object.keys(change).filter((field) => change[field]?.too_large)).toEqual(['items'])
  expect(change).toMatchObject({
    status: { from: null, to: 'active' },
    description: { from: null, to: description },
    started_at: { from: null, to: isoOf(T0) },
    current_period_end: { from: null, to: isoOf(T0 + 30 * DAY) },
  })
})

describe.each(SHAPES)("Stripe's invoices, in the shape of %s", (shape) => {
  const INVOICE = {
    ...EMPTY_INVOICE,
    pre_payment_credit_notes_amount: 0,
    post_payment_credit_notes_amount: 0,
    customer_tax_exempt: 'none',
    customer_tax_ids: [],
    subtotal: 2400,
    discount_amount: null,
    tax: null,
    amount_remaining: 2400,
    lines: { data: [], has_more: false },
    billing_reason: 'subscription_cycle',
    collection_method: 'charge_automatically',
    attempt_count: 0,
    payment_intent: shape === '2020-03-02' ? 'pi_1Tests' : null,
    hosted_url: 'https://invoice.stripe.com/i/acct_1Tests/test_1',
    status: 'open',
    number: 'TESTS-0001',
    subscription: 'sub_1OfInvoice',
    currency: 'USD',
    total: 2400,
    amount_due: 2400,
    amount_paid: 0,
    period_start: isoOf(T0 - 30 * DAY),
    period_end: isoOf(T0),
    hosted_invoice_url: 'https://invoice.stripe.com/i/acct_1Tests/test_1',
  }
  const PAID = { status: 'paid', amount_paid: 2400, amount_remaining: 0 }
  const paid = { status: 'paid', amount_paid: 2400, amount_remaining: 0 }
  const DRAFT = { status: 'draft', number: null, hosted_invoice_url: null }
  const draft = { ...DRAFT, hosted_url: null }
  const RETRIED = { attempted: true, attempt_count: 1, next_payment_attempt: T0 + 3 * DAY }
  const retried = { next_payment_attempt: isoOf(T0 + 3 * DAY), attempt_count: 1 }
  const CASES: Case[] = [
    { type: 'created', fields: DRAFT, expected: draft },
    { type: 'finalized', fields: {}, expected: {} },
    {
      type: 'updated',
      fields: { ...DRAFT, total: 3000, amount_due: 2500 },
      expected: { ...draft, total: 3000, amount_due: 2500 },
    },
    {
      type: 'sent',
      fields: { due_date: T0 + 14 * DAY },
      expected: { due_at: isoOf(T0 + 14 * DAY), due_date: isoOf(T0 + 14 * DAY) },
    },
    {
      type: 'overdue',
      fields: { due_date: T0 - DAY },
      expected: { due_at: isoOf(T0 - DAY), due_date: isoOf(T0 - DAY) },
    },
    { type: 'paid', fields: PAID, expected: paid },
    { type: 'payment_succeeded', fields: PAID, expected: paid },
    { type: 'payment_failed', fields: RETRIED, expected: retried },
    { type: 'payment_action_required', fields: RETRIED, expected: retried },
    { type: 'voided', fields: { status: 'void' }, expected: { status: 'void' } },
    { type: 'marked_uncollectible', fields: { status: 'uncollectible' }, expected: { status: 'uncollectible' } },
    { type: 'deleted', fields: { ...DRAFT, status: 'deleted' }, expected: { ...draft, status: 'deleted' } },
    // "deleted" is not a published status: the snapshot may still be that of the draft.
    { type: 'deleted', fields: DRAFT, expected: { ...draft, status: 'deleted' } },
    { type: 'finalized', fields: { subscription: null }, expected: { subscription: null } },
    { type: 'finalized', fields: { subscription: { id: 'sub_Expanded' } }, expected: { subscription: 'sub_Expanded' } },
  ]

  it.each(CASES)('invoice.$type → $expected.status', ({ type, fields, expected }) =>
    check('invoices', 'invoice', stripeEventOf(`invoice.${type}`, stripeInvoice(fields, shape), { shape }), {
      ...INVOICE,
      ...expected,
    }),
  )
})

describe("Stripe's payment methods", () => {
  const SENT = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2034, funding: 'credit', country: 'DE' }
  const CARD = { ...SENT, fingerprint: null }
  const NEWER = { ...CARD, last4: '4444', exp_year: 2039 }
  const GERMANY = { line1: null, line2: null, city: null, state: null, postal_code: null, country: 'DE' }
  const METHOD = {
    status: 'attached',
    type: 'card',
    card: CARD,
    last4: '4242',
    bank: null,
    wallet: null,
    billing_details: { name: null, email: null, phone: null, address: GERMANY },
    is_default: null,
  }
  const CASES: (Case & { previous?: Fields })[] = [
    { type: 'attached', fields: {}, expected: {} },
    { type: 'updated', fields: { card: NEWER }, previous: { card: SENT }, expected: { card: NEWER, last4: '4444' } },
    { type: 'automatically_updated', fields: { card: NEWER }, expected: { card: NEWER, last4: '4444' } },
    {
      type: 'attached',
      fields: { type: 'sepa_debit', card: undefined },
      expected: { type: 'sepa_debit', card: null, last4: null },
    },
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
      stripeEventOf(`payment_method.${type}`, stripePaymentMethod(fields), previous ? { previous } : {}),
      { ...METHOD, ...expected },
    ),
  )

  it('a detached payment method keeps its row and its customer', async () => {
    const id = anId('pm')
    const attached = stripePaymentMethod({ id, customer: 'cus_Keeps' })
    await world.deliver(
      stripeEventOf('payment_method.attached', attached),
      stripeEventOf(
        'payment_method.detached',
        { ...attached, customer: null },
        { at: T0 + 60, previous: { customer: 'cus_Keeps' } },
      ),
    )
    const { body } = await world.api('/payment-methods?customer=cus_Keeps')
    expect(body.data).toEqual([expect.objectContaining({ id, status: 'detached', customer: 'cus_Keeps', card: CARD })])
  })
})

describe('any other event', () => {
  const OTHERS: [string, Fields][] = [
    ['invoice.upcoming', stripeInvoice({ id: undefined })],
    [
      'invoice_payment.paid',
      { id: 'inpay_1', object: 'invoice_payment', invoice: 'in_1', status: 'paid', amount_paid: 1 },
    ],
    ['invoiceitem.created', { id: 'ii_1', object: 'invoiceitem', invoice: 'in_1', customer: 'cus_1Tests' }],
    // Without the object that its name promises.
    ['customer.created', { id: 'cus_1Tests' }],
    ['customer.tax_id.created', { id: 'txi_1', object: 'tax_id', customer: 'cus_1Tests' }],
    ['customer.source.created', { id: 'card_1', object: 'card', customer: 'cus_1Tests' }],
    ['subscription_schedule.created', { id: 'sub_sched_1', object: 'subscription_schedule', status: 'active' }],
    ['payment_intent.succeeded', { id: 'pi_1', object: 'payment_intent', status: 'succeeded', amount: 2400 }],
    ['charge.succeeded', { id: 'ch_1', object: 'charge', invoice: 'in_1', amount: 2400, currency: 'usd' }],
    ['payment_method.card_automatically_updated', stripePaymentMethod()],
  ]
  it.each(inBothShapes(OTHERS.map(([type, object]) => ({ type, object }))))(
    'is ignored, and writes no object: $type ($shape)',
    async ({ type, object, shape }) => {
      const before = await world.objects()
      const [id] = (await world.deliver(stripeEventOf(type, object, { shape: shape as Shape }))) as [string]
      expect(await world.event(id)).toMatchObject({ status: 'ignored', last_error: null })
      expect(await world.effects(id)).toEqual([])
      expect(await world.objects()).toEqual(before)
    },
  )
})
