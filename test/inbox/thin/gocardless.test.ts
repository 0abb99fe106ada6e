import { beforeEach, describe, expect, it } from 'vitest'
import {
  GOCARDLESS_CUSTOMER,
  GOCARDLESS_MANDATE,
  gocardlessEvent,
  gocardlessPayment,
  gocardlessSubscription,
} from '../../billing/payloads-fetched'
import { at, type Fields } from '../../billing/payloads-more'
import { insertLink } from '../../consumers/rows'
import { call, changeAccount, newGocardlessAccount, newGocardlessKey, seenBy } from '../../harness'
import { stopClock } from '../pipeline'
import { setKey } from '../refresh/world'
import { BY_FETCH, type ByFetchWorld, byFetchWorld } from './by-fetch'
import { expectSound } from './sound'

/* What only GoCardless does: a delivery has several events, and an object names a mandate instead of its customer. */

const of = BY_FETCH.find(({ vendor }) => vendor === 'gocardless') as (typeof BY_FETCH)[number]
const subscription = gocardlessSubscription(0)
const told = (...events: Fields[]) => ({ events })
const putKey = ({ token, project, connection }: ByFetchWorld, api_key: string) =>
  call(`/platform/v1/billing/connections/${connection.id}/api-key`, {
    method: 'PUT',
    token,
    project,
    json: { api_key },
  })

beforeEach(() => {
  stopClock(Date.parse(at(100)))
})

describe('a delivery of several events', () => {
  /** As the vendor's own library has it: gocardless/gocardless-nodejs (MIT), src/fixtures/webhook_body.json. */
  const DELIVERY = told(
    {
      id: 'EV00BD05S5VM2T',
      created_at: '2018-07-05T09:13:51.404Z',
      resource_type: 'subscriptions',
      action: 'created',
      links: { subscription: 'SB0003JJQ2MR06' },
      details: { origin: 'api', cause: 'subscription_created', description: 'Subscription created via the API.' },
      metadata: {},
    },
    {
      id: 'EV00BD05TB8K63',
      created_at: '2018-07-05T09:13:56.893Z',
      resource_type: 'mandates',
      action: 'created',
      links: { mandate: 'MD000AMA19XGEC' },
      details: { origin: 'api', cause: 'mandate_created', description: 'Mandate created via the API.' },
      metadata: {},
    },
  )

  it.each([
    ['in order', DELIVERY],
    ['the other way round', told(...DELIVERY.events.toReversed())],
  ])('leads to each object that becomes state: %s', async (_, delivery) => {
    const world = await byFetchWorld(of, [subscription])
    const ids = await world.deliver(delivery)
    const ended = await Promise.all(ids.map((id) => world.event(id)))
    expect(ended.map(({ event_type, status }) => [event_type, status]).sort()).toEqual([
      ['mandates.created', 'ignored'],
      ['subscriptions.created', 'processed'],
    ])
    expect(await world.shown('subscriptions', subscription.id)).toMatchObject({ status: 'active', customer: 'CU0001' })
    await expectSound(world)
  })

  it('asks for each object once', async () => {
    const second = gocardlessSubscription(0, { id: 'SB2', status: 'paused' })
    const payment = gocardlessPayment({ status: 'confirmed' })
    const world = await byFetchWorld(of, [subscription, second, payment])
    const events = [
      gocardlessEvent(subscription, 'created', 1),
      gocardlessEvent(subscription, 'payment_created', 2),
      gocardlessEvent(second, 'paused', 2),
      gocardlessEvent(payment, 'confirmed', 3),
      gocardlessEvent(payment, 'created', 2),
    ]
    const ids = await world.deliver(told(...events))
    for (const id of ids) expect(await world.event(id)).toMatchObject({ status: 'processed' })
    expect((await world.asked()).sort()).toEqual([
      ...Array.from({ length: 3 }, () => '/mandates/MD000AMA19XGEC'),
      '/payments/PM0001',
      '/subscriptions/SB0003JJQ2MR06',
      '/subscriptions/SB2',
    ])
    expect(await world.fetched()).toHaveLength(3)
    expect(await world.shown('subscriptions', 'SB2')).toMatchObject({ status: 'paused', customer: 'CU0001' })
    expect(await world.shown('invoices', 'PM0001')).toMatchObject({ status: 'paid', subscription: subscription.id })
    await expectSound(world)
  })
})

describe('whose an object is', () => {
  it.each([
    ['401', { status: 401 }, 'vendor_key_refused'],
    ['403', { status: 403 }, 'vendor_key_refused'],
    ['404', { status: 404 }, 'vendor_failed'],
    ['410', { status: 410 }, 'vendor_failed'],
    ['429', { status: 429, retry_after: '40' }, 'vendor_failed'],
    ['500', { status: 500 }, 'vendor_failed'],
    ['a page', { status: 200, body: '<html>' }, 'vendor_failed'],
    ['nothing', { status: 200, body: '{}' }, 'vendor_failed'],
    ['a mandate of nobody', { status: 200, body: '{"mandates":{"id":"MD1","links":{}}}' }, 'vendor_failed'],
  ])('is waited for if the answer is %s: what is known stays', async (name, fail, code) => {
    const world = await byFetchWorld(of, [subscription])
    await world.deliver(told(gocardlessEvent(subscription, 'created', 1)))
    await world.change(gocardlessSubscription(0, { status: 'paused' }))
    await changeAccount(world.apiKey, { fail: { ...fail, path: '/mandates/' } })
    const [id = ''] = await world.deliver(told(gocardlessEvent(subscription, 'paused', 2)))
    expect(await world.event(id)).toMatchObject({ status: 'retrying', last_error_code: code })
    const shown = () => world.shown('subscriptions', subscription.id)
    expect(await shown()).toMatchObject({ status: 'active', customer: 'CU0001', incomplete: false })
    await changeAccount(world.apiKey, { fail: { status: 500, path: '/nowhere' } })
    if (name === '401') await setKey(world, world.connection.id, world.apiKey)
    await world.settle()
    expect(await world.event(id)).toMatchObject({ status: 'processed', last_error: null })
    expect(await shown()).toMatchObject({ status: 'paused', customer: 'CU0001' })
    await expectSound(world)
  })

  it('is nobody if a payment has no mandate', async () => {
    const payment = gocardlessPayment({ status: 'confirmed', links: { creditor: 'CR0001' } })
    const world = await byFetchWorld(of, [payment])
    await world.deliver(told(gocardlessEvent(payment, 'confirmed', 1)))
    expect(await world.asked()).toEqual(['/payments/PM0001'])
    expect(await world.shown('invoices', 'PM0001')).toMatchObject({
      status: 'paid',
      customer: null,
      subscription: null,
    })
  })

  it('needs no further call in a refresh, which also reads the customer and its payments', async () => {
    const said = { ...GOCARDLESS_CUSTOMER, metadata: { consumer_external_id: 'user_of_the_customer' } }
    const payments = Array.from({ length: 12 }, (_, i) =>
      gocardlessPayment({ id: `PM${i}`, created_at: at(i, 3), status: 'paid_out' }),
    )
    const world = await byFetchWorld(of, [subscription, ...payments, said])
    // What a subscription says is a hint: the customer's own word counts more.
    await world.deliver(told(gocardlessEvent(subscription, 'created', 1)))
    const before = await world.asked()
    const refreshed = await world.api('/customers/gocardless/CU0001/refresh', { method: 'POST' })
    expect(refreshed).toMatchObject({ status: 200, body: { state: 'fresh', changed: true } })
    expect((await world.asked()).slice(before.length).sort()).toEqual([
      '/customers/CU0001',
      '/payments',
      '/subscriptions',
    ])
    expect((await world.api('/customers/gocardless/CU0001')).body).toMatchObject({
      external_id: 'user_of_the_customer',
      name: 'Ada Lovelace',
      email: 'ada@acme.dev',
    })
    const invoices = await world.api<{ data: { id: string }[] }>('/invoices?customer=CU0001')
    expect(invoices.body.data.map(({ id }) => id).sort()).toEqual(
      payments
        .slice(2)
        .map(({ id }) => id)
        .sort(),
    )
    expect((await world.api('/customers/gocardless/CU0002/refresh', { method: 'POST' })).status).toBe(404)
  })
})

it.each([
  ['payments.created', 'processed'],
  ['payments.failed', 'processed'],
  ['payments.charged_back', 'processed'],
  ['payments.submitted', 'ignored'],
  ['payments.paid_out', 'ignored'],
  ['subscriptions.anything', 'processed'],
  ['mandates.cancelled', 'ignored'],
  ['customers.approved', 'ignored'],
])('an event with the name %s ends as %s', async (name, status) => {
  const [resource_type = '', action] = name.split('.')
  const payment = gocardlessPayment()
  const world = await byFetchWorld(of, [subscription, payment])
  const links = {
    subscription: subscription.id,
    payment: payment.id,
    mandate: GOCARDLESS_MANDATE.id,
    customer: 'CU0001',
  }
  const [id = ''] = await world.deliver(
    told({ ...gocardlessEvent(subscription, 'created', 1), resource_type, action, links }),
  )
  expect(await world.event(id)).toMatchObject({ status })
  if (status === 'ignored') expect(await world.asked()).toEqual([])
})

it.each([['../customers'], ['SB 1'], ['x'.repeat(201)], ['']])('nobody is asked for %j', async (id) => {
  const world = await byFetchWorld(of)
  const event = { ...gocardlessEvent(subscription, 'created', 1), links: { subscription: id } }
  const [sent = ''] = await world.deliver(told(event))
  expect(await world.event(sent)).toMatchObject({ status: 'ignored' })
  expect(await world.asked()).toEqual([])
})

it('an object of a customer whose consumer was erased is not recorded', async () => {
  const world = await byFetchWorld(of, [subscription])
  await insertLink(world.project, 'CU0001', { vendor: 'gocardless', pinned: 'ers_1' })
  const [id = ''] = await world.deliver(told(gocardlessEvent(subscription, 'created', 1)))
  expect(await world.event(id)).toMatchObject({ status: 'ignored', last_error: null })
  expect(await world.fetched()).toEqual([])
  await expectSound(world)
})

it('the price is in the keys of metadata that the project chose, and nothing new is no record', async () => {
  const world = await byFetchWorld(of, [gocardlessSubscription(0, { metadata: { tier: 'gold' } })])
  expect((await world.settings({ purchase_item_keys: ['tier'] })).status).toBe(200)
  for (const day of [1, 2]) await world.deliver(told(gocardlessEvent(subscription, 'amended', day)))
  expect(await world.shown('subscriptions', subscription.id)).toMatchObject({ items: [{ price: 'gold', quantity: 1 }] })
  expect(await world.fetched()).toHaveLength(1)
})

describe('a token', () => {
  it.each([
    [true, 'https://api.gocardless.com'],
    [false, 'https://api-sandbox.gocardless.com'],
  ])('works in its own environment: live is %s', async (livemode, origin) => {
    const world = await byFetchWorld(of, [subscription], { livemode })
    await world.deliver(told(gocardlessEvent(subscription, 'created', 1)))
    const seen = await seenBy(world.apiKey)
    expect(new Set(seen.map(({ url }) => new URL(url).origin))).toEqual(new Set([origin]))
    for (const { method, headers } of seen)
      expect([method, headers]).toEqual(['GET', expect.objectContaining({ 'gocardless-version': '2015-07-06' })])
    expect(await world.shown('subscriptions', subscription.id)).toMatchObject({ livemode })
  })

  it('is refused if it is of the other environment, of another account or unknown, or if it is none', async () => {
    const world = await byFetchWorld(of, [subscription], { key: false })
    await world.deliver(told(gocardlessEvent(subscription, 'created', 1)))
    const sandbox = await newGocardlessAccount({}, newGocardlessKey('sandbox'))
    for (const [key, code] of [
      [sandbox, 'api_key_other_mode'],
      [await newGocardlessAccount(), 'api_key_other_account'],
      [newGocardlessKey(), 'api_key_invalid'],
      ['live_short', 'api_key_invalid'],
      [`test_${'x'.repeat(40)}`, 'api_key_invalid'],
      [`live_${'x'.repeat(20)}\n`, 'validation_failed'],
    ] as const) {
      const answer = await putKey(world, key)
      expect([key.slice(0, 6), answer.status, answer.body.code]).toEqual([key.slice(0, 6), 422, code])
      expect(answer.text).not.toContain(key)
    }
    expect((await putKey(world, world.apiKey)).body).toMatchObject({
      livemode: true,
      account: 'same',
      permissions: { subscriptions: 'ok' },
    })
  })
})
