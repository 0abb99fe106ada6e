import { beforeAll, describe, expect, it } from 'vitest'
import {
  anId,
  type Fields,
  isoOf,
  paddleEventOf,
  paddlePaymentMethod,
  paddleSubscription,
  stripeEventOf,
  stripeInvoice,
  stripePaymentMethod,
  stripeSubscription,
  T0,
} from './payloads'
import { type BillingWorld, billingWorld, type Shown } from './world'

/* A customer with what it has, from the events of the customer and of its objects. */

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

function stripeCustomer(fields: Fields = {}): Fields {
  return {
    id: anId('cus'),
    object: 'customer',
    address: {
      line1: '12 St James’s Square',
      line2: null,
      city: 'London',
      state: null,
      postal_code: 'SW1Y',
      country: 'GB',
    },
    balance: -500,
    created: T0 - 60,
    currency: 'eur',
    default_source: null,
    delinquent: false,
    description: 'The first',
    discount: null,
    email: 'ada@example.com',
    invoice_settings: { default_payment_method: null },
    metadata: { user: '42' },
    name: 'Ada Lovelace',
    phone: '+44 20',
    preferred_locales: ['en-GB'],
    tax_exempt: 'none',
    ...fields,
  }
}

const get = async (vendor: string, id: unknown, query = '') => world.api(`/customers/${vendor}/${id}${query}`)
const ids = (part: { data: Shown[] }) => part.data.map(({ id }) => id)
const NONE = { data: [], has_more: false }

describe("Stripe's customer", () => {
  it('has the fields of its events, and its objects, the latest change first', async () => {
    const customer = stripeCustomer()
    const own = { customer: customer.id }
    const [first, second] = [stripeSubscription(own), stripeSubscription({ ...own, status: 'canceled' })]
    const [invoice, draft] = [stripeInvoice(own), stripeInvoice({ ...own, status: 'draft' })]
    const method = stripePaymentMethod(own)
    const settings = { invoice_settings: { default_payment_method: method.id } }
    const [event] = (await world.deliver(
      stripeEventOf('customer.created', customer),
      stripeEventOf('customer.subscription.created', first, { at: T0 + 9 }),
      stripeEventOf('customer.subscription.updated', second, { at: T0 + 5 }),
      stripeEventOf('invoice.finalized', invoice),
      stripeEventOf('invoice.deleted', draft),
      stripeEventOf('payment_method.attached', method),
    )) as [string]
    const { body } = await get('stripe', customer.id)
    expect(body).toMatchObject({
      id: customer.id,
      vendor: 'stripe',
      status: 'active',
      vendor_status: null,
      livemode: false,
      created_at: isoOf(T0 - 60),
      updated_at: isoOf(T0),
      metadata: { user: '42' },
      email: 'ada@example.com',
      name: 'Ada Lovelace',
      phone: '+44 20',
      description: 'The first',
      address: customer.address,
      locale: 'en-GB',
      currency: 'EUR',
      balance: -500,
      delinquent: false,
      tax_exempt: 'none',
      discounts: [],
      default_payment_method: null,
      ambiguous: false,
      incomplete: false,
      source_event_id: event,
    })
    expect(body).not.toHaveProperty('customer')
    expect([ids(body.subscriptions), ids(body.invoices), ids(body.payment_methods)]).toEqual([
      [first.id, second.id],
      [invoice.id],
      [method.id],
    ])
    expect(body.subscriptions).toMatchObject({ has_more: false })
    expect(body.payment_methods.data[0]).toMatchObject({ is_default: false })
    // The customer says which of its payment methods is the default.
    const previous = { invoice_settings: { default_payment_method: null } }
    await world.deliver(stripeEventOf('customer.updated', { ...customer, ...settings }, { at: T0 + 60, previous }))
    const now = (await get('stripe', customer.id)).body
    expect(now).toMatchObject({ default_payment_method: method.id, payment_methods: { data: [{ is_default: true }] } })
    expect(await world.one('payment-methods', method.id as string)).toEqual(now.payment_methods.data[0])
    expect((await world.api(`/payment-methods?customer=${customer.id}`)).body.data).toEqual(now.payment_methods.data)
  })

  const coupon = { id: 'SUMMER', percent_off: 25 }
  it.each([
    ['old', { coupon }, { coupon: 'SUMMER', percent_off: 25 }],
    ['new: the coupon as an id', { source: { type: 'coupon', coupon: 'SUMMER' } }, { coupon: 'SUMMER' }],
  ])('has the discount on all that it buys: %s', async (_, sent, shown) => {
    const customer = stripeCustomer({ discount: { id: 'di_1', start: T0, end: null, ...sent }, tax_exempt: 'reverse' })
    await world.deliver(stripeEventOf('customer.updated', customer))
    expect((await get('stripe', customer.id)).body).toMatchObject({
      tax_exempt: 'reverse',
      discounts: [{ id: 'di_1', starts_at: isoOf(T0), ends_at: null, ...shown }],
    })
  })

  it('is known by its objects alone, until an event of its own', async () => {
    const id = anId('cus')
    const subscription = stripeSubscription({ customer: id })
    await world.deliver(stripeEventOf('customer.subscription.created', subscription))
    const { status, body } = await get('stripe', id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id,
      vendor: 'stripe',
      status: null,
      email: null,
      metadata: null,
      source_event_id: null,
    })
    expect(ids(body.subscriptions)).toEqual([subscription.id])
    await world.deliver(stripeEventOf('customer.updated', stripeCustomer({ id })))
    expect((await get('stripe', id)).body).toMatchObject({ status: 'active', email: 'ada@example.com' })
  })

  it('stays deleted, and its effects do not repeat what is about a person', async () => {
    const customer = stripeCustomer()
    const [created, deleted] = (await world.deliver(
      stripeEventOf('customer.created', customer),
      stripeEventOf('customer.deleted', { ...customer, email: 'b@example.com' }, { at: T0 + 60 }),
      stripeEventOf('customer.updated', customer, { at: T0 + 90 }),
    )) as [string, string]
    expect((await get('stripe', customer.id)).body).toMatchObject({ status: 'deleted', source_event_id: deleted })
    const effects = [...(await world.effects(created)), ...(await world.effects(deleted))]
    expect(effects[0]).toMatchObject({
      kind: 'customer',
      result: 'applied',
      change: { email: { from: null, to: null, personal: true }, balance: { from: null, to: -500 } },
    })
    expect(JSON.stringify(effects)).not.toMatch(/example\.com|Ada|London|\+44/)
  })

  it('shows twenty objects of each kind, and says where there are more', async () => {
    const id = anId('cus')
    const made = Array.from({ length: 21 }, (_, n) =>
      stripeEventOf('invoice.updated', stripeInvoice({ customer: id, number: `N-${n}` }), { at: T0 + n }),
    )
    await world.deliverTogether(made)
    const { body } = await get('stripe', id)
    expect(body).toMatchObject({ subscriptions: NONE, payment_methods: NONE, invoices: { has_more: true } })
    expect(body.invoices.data.map(({ number }: Shown) => number)).toEqual(
      Array.from({ length: 20 }, (_, n) => `N-${20 - n}`),
    )
  })
})

it("Paddle's customer", async () => {
  const id = anId('ctm')
  const data = {
    id,
    name: 'Sam Miller',
    email: 'sam@example.com',
    locale: 'en',
    status: 'active',
    custom_data: { user: '42' },
    created_at: '2026-01-01T00:00:00.533Z',
    updated_at: '2026-01-01T00:00:00.533Z',
    marketing_consent: false,
  }
  const method = paddlePaymentMethod({ customer_id: id })
  await world.deliver(
    paddleEventOf('customer.imported', data),
    paddleEventOf('subscription.created', paddleSubscription({ customer_id: id })),
    paddleEventOf('payment_method.saved', method),
  )
  expect((await get('paddle', id)).body).toMatchObject({
    vendor: 'paddle',
    status: 'active',
    email: 'sam@example.com',
    name: 'Sam Miller',
    locale: 'en',
    metadata: { user: '42' },
    created_at: '2026-01-01T00:00:00.533Z',
    default_payment_method: null,
    tax_exempt: null,
    discounts: null,
    // Paddle's customers have no default.
    payment_methods: { data: [{ id: method.id, is_default: null }] },
  })
  await world.deliver(
    paddleEventOf('customer.updated', { ...data, status: 'archived' }, { at: '2026-01-02T00:00:00Z' }),
  )
  expect((await get('paddle', id)).body).toMatchObject({ status: 'archived' })
  // The same id at another vendor is another customer.
  expect((await get('stripe', id)).status).toBe(404)
})

it('is of one project, and unknown to others', async () => {
  const customer = stripeCustomer()
  await world.deliver(stripeEventOf('customer.created', customer))
  const other = await billingWorld()
  for (const answer of [
    await other.api(`/customers/stripe/${customer.id}`),
    await get('stripe', 'cus_unheard_of'),
    await get('square', customer.id),
    await get('stripe', 'x'.repeat(1000)),
  ]) {
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
  }
  expect((await get('stripe', customer.id, '?limit=1')).status).toBe(422)
})

it.each([
  ['an id that is none', { id: 'two words' }],
  ['no id', { id: undefined }],
  ['an object of another kind', { object: 'account' }],
])('an event of a customer with %s is ignored', async (_, fields) => {
  const [event] = (await world.deliver(stripeEventOf('customer.updated', stripeCustomer(fields)))) as [string]
  expect(await world.event(event)).toMatchObject({ status: 'ignored', last_error: null })
})

it('any value in any field of a customer is no failure', async () => {
  const odd = [true, -1.5, 'a text', [[null]], { data: [null, 1, {}] }, null, undefined]
  const fields = Object.keys(stripeCustomer()).filter((field) => field !== 'id' && field !== 'object')
  const events = fields.flatMap((field) =>
    odd.map((value) => stripeEventOf('customer.updated', stripeCustomer({ [field]: value }))),
  )
  const delivered = await world.deliverTogether(events)
  for (const id of delivered) expect((await world.event(id)).status).toBe('processed')
})
