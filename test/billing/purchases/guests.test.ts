import { beforeEach, expect, it } from 'vitest'
import { stopClock } from '../../clock'
import { type EntitlementWorld, entitlementWorld } from '../../entitlements/world'
import { storedText } from '../../harness'
import { cron } from '../../inbox/pipeline'
import { type Fields, paddleEventOf, stripeEventOf, T0 } from '../payloads'
import { stripeRefund, stripeSession } from './payloads'

/* Those who buy once without being a customer of the vendor's: a Checkout Session then has no customer. */

let world: EntitlementWorld
beforeEach(async () => {
  stopClock(T0 * 1000)
  world = await entitlementWorld()
  await world.catalog.feature('sso')
  const prices = [{ vendor: 'stripe', ref: 'price_life', lasts: 'forever' }]
  await world.catalog.plan({ key: 'life', name: 'Life', features: { sso: { value: true } }, prices })
  await world.consumers.put('ada')
})

const sold = (payment_intent: string, more: Fields = {}) => ({
  ...stripeEventOf(
    'checkout.session.completed',
    stripeSession({ payment_intent, customer: null, metadata: { price_id: 'price_life' }, ...more }),
  ),
  livemode: true,
})
const refunded = (payment: string, fields: Fields = {}) =>
  stripeEventOf('refund.created', stripeRefund(payment, { amount: 4900, ...fields }), { at: T0 + 60 })
const customers = async (query = '') =>
  (await world.api<{ data: { id: string; external_id: string | null }[] }>(`/customers${query}`)).body.data.map(
    ({ id, external_id }) => [id, external_id],
  )
const allowed = async () => {
  const { features } = await world.one('ext:ada')
  return [features.sso?.value, features.sso?.reason]
}

it('belong to the consumer whom their checkout names, and lose what they returned', async () => {
  await world.deliver(sold('pi_1', { client_reference_id: 'ada' }))
  const { body } = await world.api('/purchases/pi_1')
  expect(body).toMatchObject({ customer: null, consumer_id: expect.stringMatching(/^csm_/), status: 'paid' })
  expect(await allowed()).toEqual([true, 'plan'])
  expect(await customers('?linked=true')).toEqual([['guest:pi_1', 'ada']])
  expect((await world.api('/customers/stripe/guest:pi_1')).body).toMatchObject({
    linked_by: 'checkout',
    purchases: { data: [{ id: 'pi_1', customer: null }] },
  })
  const changes = await world.ask<{ data: Fields[] }>('GET', '/changes?types=purchase.changed')
  expect(changes.body.data).toMatchObject([{ customer: null, consumer_id: body.consumer_id }])
  const linked = await world.ask<{ data: Fields[] }>('GET', '/changes?types=customer.linked')
  expect(linked.body.data).toMatchObject([{ object: { id: 'guest:pi_1' }, customer: 'guest:pi_1' }])
  // No event changed the customer: there is none.
  expect(await world.timeline('purchases', 'pi_1')).toMatchObject([{ change: { status: { to: 'paid' } } }])
  expect(JSON.stringify(await world.timeline('purchases', 'pi_1'))).not.toContain('guest:pi_1"')
  await world.deliver(refunded('pi_1'))
  expect(await allowed()).toEqual([false, 'refunded'])
})

it('can pay without a checkout', async () => {
  const metadata = { price_id: 'price_life', consumer_external_id: 'ada' }
  const intent = {
    id: 'pi_1',
    object: 'payment_intent',
    amount_received: 4900,
    currency: 'usd',
    customer: null,
    metadata,
  }
  await world.deliver({ ...stripeEventOf('payment_intent.succeeded', intent), livemode: true })
  expect((await world.api('/purchases/pi_1')).body).toMatchObject({ customer: null, status: 'paid' })
  expect(await allowed()).toEqual([true, 'plan'])
})

it('name no consumer by the reference of a checkout that costs nothing: a buyer chooses it, and can repeat that', async () => {
  const free = { payment_status: 'no_payment_required', amount_total: 0, client_reference_id: 'ada' }
  await world.deliver(sold('pi_1', free), sold('pi_2', { ...free, customer: 'cus_1' }))
  expect(await customers('?linked=true')).toEqual([['cus_1', 'ada']])
  await world.deliver(sold('pi_3', { ...free, metadata: { consumer_external_id: 'ada' } }))
  expect(await customers('?linked=true')).toEqual([
    ['cus_1', 'ada'],
    ['guest:pi_3', 'ada'],
  ])
})

it('are listed when they are asked for, as long as nothing links them, and can be pinned', async () => {
  const other = (customer: string) => sold(`pi_${customer}`, { customer })
  await world.deliver(sold('pi_1'), sold('pi_2'), other('cus_1'), other('h_1'), sold('pi_3', { payment_intent: null }))
  expect(await customers()).toEqual([
    ['cus_1', null],
    ['h_1', null],
  ])
  const all = await customers('?guests=true')
  expect(all.map(([id]) => id)).toEqual([
    'cus_1',
    expect.stringMatching(/^guest:cs_/),
    'guest:pi_1',
    'guest:pi_2',
    'h_1',
  ])
  expect(await customers('?guests=true&limit=2')).toEqual(all.slice(0, 2))
  const pinned = await world.api('/customers/stripe/guest:pi_1', { method: 'PUT', json: { consumer: 'ext:ada' } })
  expect(pinned.status).toBe(200)
  expect(await allowed()).toEqual([true, 'plan'])
  expect(await customers('?linked=true')).toEqual([['guest:pi_1', 'ada']])
})

it('are erased with their consumer: what they are called, and the payloads of all events of their payment', async () => {
  const mark = 'zqulo'
  const person = { email: `${mark}@example.com`, name: mark }
  await world.deliver(sold('pi_1', { client_reference_id: 'ada', customer_details: person }))
  await world.deliver(refunded('pi_1', { metadata: { note: mark } }))
  expect(await storedText()).toContain(mark)
  expect((await world.consumers.erase('ext:ada')).status).toBe(202)
  for (let runs = 0; runs < 5; runs++) await cron({ EVENTS: world.queue.EVENTS })
  expect(await storedText()).not.toContain(mark)
  const { body } = await world.api('/purchases/pi_1')
  expect(body).toMatchObject({ status: 'refunded', customer_email: null, customer_name: null, customer: null })
})

it('are of one vendor: at another, an id that looks like theirs is the id of a customer', async () => {
  const mark = 'zqulo'
  const customer = { id: 'guest:ctm_1', status: 'active', email: `${mark}@example.com`, name: mark }
  const ofAda = { ...customer, custom_data: { consumer_external_id: 'ada' } } as Fields
  await world.deliver(paddleEventOf('customer.created', ofAda))
  expect(await customers('?linked=true')).toEqual([['guest:ctm_1', 'ada']])
  const { body } = await world.ask<{ data: Fields[] }>('GET', '/changes?types=customer.changed')
  expect(body.data).toMatchObject([{ customer: 'guest:ctm_1' }])
  expect((await world.consumers.erase('ext:ada')).status).toBe(202)
  for (let runs = 0; runs < 5; runs++) await cron({ EVENTS: world.queue.EVENTS })
  expect(await storedText()).not.toContain(mark)
})
