import { describe, expect, it } from 'vitest'
import { stripeEventOf, stripeSubscription } from '../../billing/payloads'
import { stripeSession } from '../../billing/purchases/payloads'
import { ofCustomer } from '../../consumers/events'
import { type AccountSettings, changeAccount, newStripeAccount, newStripeKey } from '../../harness'
import { CUSTOMER, holding, type RefreshWorld, refreshWorld, setKey } from './world'

/* A project with several connections of a vendor, each with the key of another account. */

/** A second connection, with the key of an account of its own. @returns its key */
async function secondAccount(world: RefreshWorld, { objects, ...settings }: AccountSettings) {
  const json = { vendor: 'stripe', name: 'Second', livemode: true, signing_secret: 'whsec_another_secret_of_the_tests' }
  const { body } = await world.api('/connections', { method: 'POST', json })
  const key = newStripeKey('live')
  await newStripeAccount({ ...settings, ...(objects && { objects }) }, key)
  await setKey(world, body.id, key)
  return key
}
const subscription = stripeSubscription({ id: 'sub_second' })
const OBJECTS = [CUSTOMER, subscription] as AccountSettings['objects'] & object
const checkout = (world: RefreshWorld) =>
  world.api('/../consumers/ext:u1/refresh', {
    method: 'POST',
    json: { checkout: { vendor: 'stripe', id: 'cs_live_1' } },
  })

describe('of two accounts', () => {
  it.each([
    ['does not know the customer', {}],
    ['may not read customers', { refused: ['customers'] }],
    ['refuses its key', { fail: { status: 401 } }],
    ['fails', { fail: { status: 500 } }],
  ] as [string, Parameters<typeof changeAccount>[1]][])('the second is asked if the first %s', async (_, settings) => {
    const world = await refreshWorld([])
    await secondAccount(world, { objects: OBJECTS })
    await changeAccount(world.apiKey, settings)
    expect(await world.refresh()).toMatchObject({ status: 200, body: { state: 'fresh', changed: true } })
    expect(await world.one('subscriptions', 'sub_second')).toMatchObject({ status: 'active' })
  })

  it('the one that told of the customer before is asked first: another may have a copy', async () => {
    const world = await refreshWorld([])
    await secondAccount(world, { objects: OBJECTS })
    await world.refresh()
    await world.letTimePass()
    await changeAccount(world.apiKey, { objects: holding([{ ...CUSTOMER, email: 'copy@acme.dev' }]) })
    expect((await world.refresh()).body).toMatchObject({ state: 'fresh', changed: false })
    expect((await world.api(`/customers/stripe/${CUSTOMER.id}`)).body.email).toBe(CUSTOMER.email)
  })

  it('one that fails hides that the other has no such checkout: nobody knows', async () => {
    const world = await refreshWorld([])
    const key = await secondAccount(world, {})
    await world.api('/../consumers', { method: 'POST', json: { external_id: 'u1' } })
    expect((await checkout(world)).status).toBe(404)
    await changeAccount(key, { fail: { status: 429, times: 1 } })
    expect(await checkout(world)).toMatchObject({ status: 200, body: { state: 'stale' } })
    await changeAccount(key, { fail: { status: 401 } })
    expect(await checkout(world)).toMatchObject({ status: 200, body: { state: 'stale' } })
  })
})

it('a vendor that asks us to wait is left alone for that long', async () => {
  const world = await refreshWorld([CUSTOMER])
  await changeAccount(world.apiKey, { fail: { status: 429, retry_after: '30', times: 3 } })
  expect((await world.refresh()).body.state).toBe('stale')
  const asked = (await world.asked()).length
  expect((await world.refresh()).body.state).toBe('stale')
  expect(await world.asked()).toHaveLength(asked)
})

it('a connection that is disabled is not asked', async () => {
  const world = await refreshWorld([CUSTOMER])
  await world.api(`/connections/${world.connection.id}`, { method: 'PATCH', json: { status: 'disabled' } })
  expect(await world.refresh()).toMatchObject({ status: 409, body: { code: 'api_key_missing' } })
})

it('a guest is not asked for, neither alone nor with the other customers of a consumer', async () => {
  const world = await refreshWorld([CUSTOMER])
  const session = stripeSession({ payment_intent: 'pi_1', customer: null, client_reference_id: 'u1' })
  await world.deliver(stripeEventOf('checkout.session.completed', session), ofCustomer(CUSTOMER.id, 'u1'))
  await world.api('/../consumers', { method: 'POST', json: { external_id: 'u1' } })
  expect((await world.api('/customers?linked=true')).body.data).toHaveLength(2)
  const { body } = await world.api('/../consumers/ext:u1/refresh', { method: 'POST', json: {} })
  expect(body).toMatchObject({ state: 'fresh', customers: [{ id: CUSTOMER.id }] })
  expect(await world.refresh('guest:pi_1')).toMatchObject({ status: 404, body: { code: 'not_found' } })
  expect((await world.asked()).filter(({ href }) => href.includes('guest'))).toEqual([])
})
