import { beforeEach, expect, it } from 'vitest'
import { revenuecatEvent, revenuecatSubscription } from '../../billing/payloads-fetched'
import { at } from '../../billing/payloads-more'
import { call, changeAccount, newRevenuecatAccount } from '../../harness'
import { stopClock } from '../pipeline'
import { setKey } from '../refresh/world'
import { BY_FETCH, byFetchWorld } from './by-fetch'
import { expectSound } from './sound'

/* What only RevenueCat does: one event leads to all that a customer has, and an app chooses what a customer is called. */

const of = BY_FETCH.find(({ vendor }) => vendor === 'revenuecat') as (typeof BY_FETCH)[number]
const told = (app_user_id: string, fields = {}) => ({
  ...revenuecatEvent(revenuecatSubscription(0, { customer_id: app_user_id }), 'RENEWAL', 3),
  ...fields,
})

beforeEach(() => {
  stopClock(Date.parse(at(100)))
})

it('one event leads to all subscriptions of the customer, with one request', async () => {
  const second = revenuecatSubscription(0, { id: 'rcsub2', product_id: 'prodrc2', status: 'expired' })
  const world = await byFetchWorld(of, [revenuecatSubscription(0), second])
  const [id = ''] = await world.deliver(told('user_revenuecat'))
  const records = (await world.fetched()).map((one) => one.id)
  const [effect] = await world.effects(id)
  expect(effect).toMatchObject({ kind: 'customer', id: 'user_revenuecat', result: 'fetched' })
  expect(records).toContain(effect?.event_id)
  expect(await world.asked()).toHaveLength(1)
  expect(await world.fetched()).toHaveLength(2)
  expect(await world.shown('subscriptions', 'rcsub1')).toMatchObject({ status: 'active' })
  expect(await world.shown('subscriptions', 'rcsub2')).toMatchObject({ status: 'canceled' })
  // Nothing is new: no record.
  const [again = ''] = await world.deliver(revenuecatEvent(revenuecatSubscription(0), 'CANCELLATION', 4))
  expect(await world.event(again)).toMatchObject({ status: 'processed' })
  expect(await world.fetched()).toHaveLength(2)
  await expectSound(world)
})

it('a customer without subscriptions is none', async () => {
  const world = await byFetchWorld(of, [{ object: 'customer', id: 'rccus', customer_id: 'user_revenuecat' }])
  const [id = ''] = await world.deliver(told('user_revenuecat'))
  expect(await world.event(id)).toMatchObject({ status: 'ignored', last_error: null })
  expect(await world.effects(id)).toMatchObject([{ kind: 'customer', result: 'gone' }])
  await expectSound(world)
})

it.each([
  ['an address of e-mail', 'a+b@acme.dev', 'a%2Bb%40acme.dev'],
  ['what would be a path', '../../projects?x=1#y', '..%2F..%2Fprojects%3Fx%3D1%23y'],
  ['what is encoded already', '%2e%2e', '%252e%252e'],
])('an id is encoded: %s', async (_, id, path) => {
  const world = await byFetchWorld(of, [revenuecatSubscription(0, { customer_id: id })])
  const [event = ''] = await world.deliver(told(id))
  expect(await world.event(event)).toMatchObject({ status: 'processed' })
  expect((await world.asked())[0]).toContain(`/customers/${path}/subscriptions`)
  expect(await world.shown('subscriptions', 'rcsub1')).toMatchObject({ customer: id })
})

it.each([['..'], ['a b'], ['x'.repeat(201)], ['Zoë']])('nobody is asked for %j', async (id) => {
  const world = await byFetchWorld(of)
  const [event = ''] = await world.deliver(told(id))
  expect(['ignored', 'retrying', 'failed']).toContain((await world.event(event)).status)
  expect(await world.asked()).toEqual([])
})

it.each([
  ['INVOICE_ISSUANCE', 'ignored'],
  ['NON_RENEWING_PURCHASE', 'ignored'],
  ['TEST', 'ignored'],
  ['PRODUCT_CHANGE', 'processed'],
])('an event with the name %s ends as %s', async (type, status) => {
  const world = await byFetchWorld(of, [revenuecatSubscription(0)])
  const [event = ''] = await world.deliver(revenuecatEvent(revenuecatSubscription(0), type, 3))
  expect(await world.event(event)).toMatchObject({ status })
})

it('after a transfer, the one who has the subscription now is asked for', async () => {
  const world = await byFetchWorld(of, [revenuecatSubscription(0, { customer_id: 'second' })])
  const transfer = {
    id: 't1',
    type: 'TRANSFER',
    event_timestamp_ms: 1,
    transferred_from: ['first'],
    transferred_to: ['second'],
  }
  const [event = ''] = await world.deliver({ api_version: '1.0', event: transfer })
  expect(await world.event(event)).toMatchObject({ status: 'processed' })
  expect(await world.shown('subscriptions', 'rcsub1')).toMatchObject({ customer: 'second' })
})

it.each([
  ['its own name', { customer_id: 'user_1' }, 'user_1', 'user_1'],
  ['the name that it got later', { customer_id: '$RCAnonymousID:1' }, 'user_1', 'user_1'],
  ['no name', { customer_id: '$RCAnonymousID:1' }, '$RCAnonymousID:1', null],
])('a customer with %s', async (_, fields, asked, consumer) => {
  const world = await byFetchWorld(of, [revenuecatSubscription(0, fields)])
  await changeAccount(world.apiKey, { aliases: { user_1: fields.customer_id } } as never)
  await world.deliver(told(asked))
  const shown = await world.api(`/customers/revenuecat/${encodeURIComponent(fields.customer_id)}`)
  expect(shown.body.external_id ?? null).toBe(consumer)
})

it('a key of another project is refused', async () => {
  const world = await byFetchWorld(of, [revenuecatSubscription(0)], { key: false })
  await world.deliver(told('user_revenuecat'))
  const api_key = await newRevenuecatAccount()
  const { token, project } = world
  const path = `/platform/v1/billing/connections/${world.connection.id}/api-key`
  const answer = await call(path, { method: 'PUT', token, project, json: { api_key } })
  expect(answer).toMatchObject({ status: 422, body: { code: 'api_key_other_account' } })
  await setKey(world, world.connection.id, world.apiKey)
})

it.each([['sk_abcdefghijklmnop'], ['proj1ab2c3d4'], ['proj1ab2c3d4:appl_abcdefghijkl'], ['../x:sk_abcdefghijklmnop']])(
  'what is entered must be a project and a secret key, not %s',
  async (api_key) => {
    const { token, project, connection } = await byFetchWorld(of, [], { key: false })
    const path = `/platform/v1/billing/connections/${connection.id}/api-key`
    const answer = await call(path, { method: 'PUT', token, project, json: { api_key } })
    expect(answer).toMatchObject({ status: 422, body: { code: 'api_key_invalid' } })
    expect(answer.text).not.toContain(api_key)
  },
)
