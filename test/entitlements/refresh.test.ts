import { expect, it } from 'vitest'
import { stripeItem, stripeSubscription } from '../billing/payloads'
import { changeAccount, mint, newPaddleAccount, newStripeAccount } from '../harness'
import { CUSTOMER, setKey } from '../inbox/refresh/world'
import { entitlementWorld, sellPlans } from './world'

type Refreshed = { state: string; customers: { id: string; state: string }[]; features: Record<string, unknown> | null }

/** A consumer `u1`, a catalog, and an account at Stripe in which a checkout has just been paid. No event has come. */
async function paidWorld(session: object = {}) {
  const world = await entitlementWorld()
  await sellPlans(world)
  await world.consumers.put('u1')
  const now = Math.floor(Date.now() / 1000)
  const period = { current_period_start: now - 86_400, current_period_end: now + 30 * 86_400 }
  const item = stripeItem({ ...period, price: { id: 'price_pro', object: 'price', product: 'prod_1' } })
  const subscription = stripeSubscription({ livemode: true, items: { object: 'list', data: [item], has_more: false } })
  const checkout = {
    ...{ id: 'cs_live_1', object: 'checkout.session', status: 'complete', payment_status: 'paid', metadata: {} },
    ...{ created: 1_790_000_000, livemode: true, customer: CUSTOMER.id, client_reference_id: 'u1' },
    ...session,
  }
  const objects = [CUSTOMER, subscription, checkout] as { id: string }[]
  const apiKey = await newStripeAccount({ objects })
  await setKey(world, world.connection.id, apiKey)
  const refresh = (json: object, consumer = 'ext:u1') =>
    world.ask<Refreshed>('POST', `/consumers/${consumer}/refresh`, { json })
  return { ...world, apiKey, refresh }
}

const FROM_CHECKOUT = { checkout: { vendor: 'stripe', id: 'cs_live_1' }, features: ['sso', 'seats'] }

it('a customer who comes back from a checkout has what it paid for, before any event', async () => {
  const world = await paidWorld()
  expect((await world.check(['ext:u1'], ['sso'])).body.data[0]?.features.sso).toMatchObject({ allowed: false })
  const { status, body } = await world.refresh(FROM_CHECKOUT)
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      state: 'fresh',
      customers: [{ vendor: 'stripe', id: CUSTOMER.id, state: 'fresh', changed: true }],
      features: { sso: { allowed: true, reason: 'plan' }, seats: { allowed: true, value: 2 } },
    },
  })
  // Now it is linked: the checkout is not needed any more, and is not recorded twice.
  expect((await world.refresh(FROM_CHECKOUT)).body).toMatchObject({ state: 'fresh' })
  expect((await world.refresh({})).body).toMatchObject({ customers: [{ id: CUSTOMER.id }], features: null })
  expect((await world.one('ext:u1')).features.sso).toMatchObject({ allowed: true })
})

const CHECKOUTS: [name: string, session: object, state: string][] = [
  ['is not paid', { payment_status: 'unpaid' }, 'fresh'],
  ['is still open', { status: 'open', payment_status: 'unpaid' }, 'fresh'],
  ["is another consumer's", { client_reference_id: 'u2' }, 'fresh'],
  ['has no customer yet', { customer: null }, 'stale'],
]

it.each(CHECKOUTS)('a checkout that %s gives the consumer nothing', async (_, session, state) => {
  const world = await paidWorld(session)
  const { status, body } = await world.refresh(FROM_CHECKOUT)
  expect({ status, state: body.state }).toEqual({ status: 200, state })
  expect(body.features).toMatchObject({ sso: { allowed: false } })
})

it.each(CHECKOUTS)('a checkout that %s leaves the consumer what other customers pay for', async (_, session, state) => {
  const world = await paidWorld(session)
  expect((await world.consumers.pin(CUSTOMER.id, 'ext:u1')).status).toBe(200)
  const { status, body } = await world.refresh(FROM_CHECKOUT)
  // What is known of the others is fresh. What the checkout bought is not known.
  expect({ status, state: body.state }).toEqual({ status: 200, state: state === 'fresh' ? 'fresh' : 'partial' })
  expect(body).toMatchObject({ customers: [{ id: CUSTOMER.id, state: 'fresh' }], features: { sso: { allowed: true } } })
})

it('the answer to what cannot be asked', async () => {
  const world = await paidWorld()
  const at = (id: string) => ({ checkout: { vendor: 'stripe', id } })
  expect(await world.refresh(at('sub_1'))).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
  expect(await world.refresh(at('cs_live_of_another'))).toMatchObject({ status: 404 })
  expect(await world.refresh({}, 'ext:nobody')).toMatchObject({ status: 404 })
  expect(await world.refresh({ checkout: { vendor: 'paddle', id: 'txn_1' } })).toMatchObject({
    status: 409,
    body: { code: 'api_key_missing' },
  })
  // Nobody could be asked.
  expect(await world.refresh({})).toMatchObject({ status: 200, body: { state: 'stale', customers: [] } })
  await changeAccount(world.apiKey, { fail: { status: 500 } })
  expect(await world.refresh(FROM_CHECKOUT)).toMatchObject({ status: 200, body: { state: 'stale', customers: [] } })
  // A key that may not read entitlements is told so, unless it does not ask for them.
  for (const [more, expected] of [
    [[], [403, 'insufficient_scope']],
    [['billing:read'], [403, 'insufficient_scope']],
    [['entitlements:read'], [200, undefined]],
  ] as const) {
    const { secret } = await mint(world.owner.token, world.project, { scopes: ['billing:write', ...more] })
    const by = (json: object) =>
      world.ask<{ code?: string }>('POST', '/consumers/ext:u1/refresh', { json, token: secret })
    const { status, body } = await by(FROM_CHECKOUT)
    expect([more, status, body.code]).toEqual([more, ...expected])
    expect((await by({})).status).toBe(200)
  }
})

it("a transaction of Paddle's is a checkout", async () => {
  const world = await paidWorld()
  const at = { created_at: '2026-11-01T00:00:00Z', updated_at: '2026-11-01T00:00:00Z' }
  const apiKey = await newPaddleAccount({
    objects: [
      {
        id: 'ctm_1',
        status: 'active',
        email: 'a@acme.dev',
        custom_data: { user_id: 'u1', consumer_external_id: 'u1' },
        ...at,
      },
      {
        id: 'txn_1',
        status: 'completed',
        customer_id: 'ctm_1',
        custom_data: { consumer_external_id: 'u1' },
        items: [],
        payments: [],
        ...at,
      },
      { id: 'sub_p1', status: 'active', customer_id: 'ctm_1', items: [], ...at },
    ],
  })
  await setKey(world, world.paddle, apiKey)
  const { status, body } = await world.refresh({ checkout: { vendor: 'paddle', id: 'txn_1' } })
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { state: 'fresh', customers: [{ vendor: 'paddle', id: 'ctm_1' }] },
  })
  expect((await world.refresh({})).body.customers).toMatchObject([{ vendor: 'paddle', id: 'ctm_1' }])
})
