import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/time'
import {
  type Fields,
  paddleEventOf,
  paddleSubscription,
  stripeEventOf,
  stripeInvoice,
  stripePaymentMethod,
  stripeSubscription,
  T0,
} from '../../billing/payloads'
import { insertLink } from '../../consumers/rows'
import { changeAccount, newPaddleAccount, newPaddleKey } from '../../harness'
import type { Item } from '../../outside/account'
import { advance, cron, rows, stopClock } from '../pipeline'
import { CUSTOMER, setKey } from '../refresh/world'
import { expectSound } from '../thin/sound'
import { cutSubscription, doubtWorld, tied } from './world'

/* Who asks by itself: no call of anybody's is needed for an object in doubt to become certain. */

beforeEach(() => {
  stopClock()
})

const FIRST = 6 * SECOND

describe('an object that comes into doubt is asked for six seconds later, and is then as the vendor says:', () => {
  const shown = { status: 'paused' }
  const KINDS: [name: string, Fields, type: string, path: string, list: string][] = [
    ['a subscription', stripeSubscription(), 'customer.subscription.updated', '/v1/subscriptions', 'subscriptions'],
    ['an invoice', stripeInvoice(), 'invoice.updated', '/v1/invoices', 'invoices'],
    ['a payment method', stripePaymentMethod(), 'payment_method.updated', '/v1/payment_methods', 'payment-methods'],
    ['a customer', CUSTOMER, 'customer.updated', '/v1/customers', 'customers/stripe'],
  ]
  it.each(KINDS)('%s', async (_, object, type, path, list) => {
    const world = await doubtWorld([{ ...object, ...shown, metadata: { read: 'yes' } }])
    const events = ['a', 'b'].map((n) => stripeEventOf(type, { ...object, metadata: { n } }, { at: T0 }))
    await world.tell(...events)
    expect(await world.objects()).toMatchObject([{ ambiguous: 1 }])
    expect(await world.doubts()).toEqual([{ object_id: object.id, tries: 0, due_in: FIRST }])
    expect(world.fetches.sent).toMatchObject([{ body: { what: 'doubt', project_id: world.project }, delaySeconds: 6 }])
    advance(FIRST)
    await world.pump()
    expect(await world.asked()).toEqual([`${path}/${object.id}`])
    const [record] = await world.fetched()
    const now = (await world.api(`/${list}/${object.id}`)).body
    expect(now).toMatchObject({ ambiguous: false, metadata: { read: 'yes' }, source_event_id: record?.id })
    expect(await world.doubts()).toEqual([])
    await expectSound(world)
  })

  it('one whose list was cut', async () => {
    const { whole, cut } = cutSubscription()
    const world = await doubtWorld([whole])
    await world.tell(stripeEventOf('customer.subscription.updated', cut, { at: T0 }))
    expect(await world.objects()).toMatchObject([{ incomplete: 1 }])
    advance(FIRST)
    await world.pump()
    const now = await world.one('subscriptions', String(whole.id))
    expect(now).toMatchObject({ incomplete: false })
    expect(now.items).toHaveLength(15)
    expect(await world.doubts()).toEqual([])
  })

  it('one of Paddle', async () => {
    const world = await doubtWorld()
    const subscription = paddleSubscription()
    const key = newPaddleKey('live')
    await newPaddleAccount({ objects: [{ ...subscription, status: 'paused' } as Item as Item & { id: string }] }, key)
    await setKey(world, world.paddle, key)
    const events = ['active', 'past_due'].map((status) =>
      paddleEventOf('subscription.updated', { ...subscription, status }),
    )
    await world.tell(...events)
    expect(await world.doubts()).toHaveLength(1)
    advance(FIRST)
    await world.pump()
    expect(await world.one('subscriptions', String(subscription.id))).toMatchObject({
      ambiguous: false,
      status: 'paused',
    })
  })
})

it('without a key, nothing is noted and nothing is sent', async () => {
  const world = await doubtWorld([], { key: false })
  await world.tell(...tied(stripeSubscription()))
  expect(await world.objects()).toMatchObject([{ ambiguous: 1 }])
  expect(await world.doubts()).toEqual([])
  expect(world.fetches.sent).toEqual([])
})

it('a doubt that the vendor does not end is asked for after a minute, ten minutes and six hours; then the object stays marked', async () => {
  const subscription = stripeSubscription()
  const world = await doubtWorld([])
  await world.tell(...tied(subscription))
  const waits = [FIRST, MINUTE, 10 * MINUTE, 6 * HOUR]
  for (const [i, wait] of waits.entries()) {
    expect(await world.doubts()).toEqual([{ object_id: subscription.id, tries: i, due_in: wait }])
    await world.pass(wait - SECOND)
    expect(await world.asked()).toHaveLength(i)
    await world.pass(SECOND)
    expect(await world.asked()).toHaveLength(i + 1)
  }
  expect(await world.doubts()).toEqual([])
  await world.pass(24 * HOUR)
  expect(await world.asked()).toHaveLength(4)
  expect(await world.objects()).toMatchObject([{ ambiguous: 1 }])
})

it('a doubt that an event ends in the meantime is not asked for', async () => {
  const subscription = stripeSubscription()
  const world = await doubtWorld([subscription])
  await world.tell(...tied(subscription))
  await world.tell(stripeEventOf('customer.subscription.updated', subscription, { at: T0 + 60 }))
  await world.pass(FIRST)
  expect([await world.asked(), await world.doubts()]).toEqual([[], []])
})

describe('a delivery that leaves an object in doubt', () => {
  it('begins anew, but does not put off what is due', async () => {
    const { cut } = cutSubscription()
    const world = await doubtWorld([])
    const told = (n: number) =>
      stripeEventOf('customer.subscription.updated', { ...cut, metadata: { n } }, { at: T0 + n })
    await world.tell(told(1))
    await world.pass(FIRST)
    await world.pass(MINUTE)
    expect(await world.doubts()).toMatchObject([{ tries: 2, due_in: 10 * MINUTE }])
    await world.tell(told(2))
    expect(await world.doubts()).toMatchObject([{ tries: 0, due_in: FIRST }])
    advance(2 * SECOND)
    await world.tell(told(3))
    expect(await world.doubts()).toMatchObject([{ tries: 0, due_in: 4 * SECOND }])
  })

  it('is one of a vendor: an answer that is cut too does not begin anew', async () => {
    const { whole, cut } = cutSubscription()
    const world = await doubtWorld([whole], { fail: { status: 500, path: '/v1/subscription_items' } })
    await world.tell(stripeEventOf('customer.subscription.updated', { ...cut, metadata: { n: '1' } }, { at: T0 }))
    await world.pass(FIRST)
    expect(await world.fetched()).toHaveLength(1)
    expect(await world.doubts()).toMatchObject([{ tries: 1, due_in: MINUTE }])
    await changeAccount(world.apiKey, { fail: { status: 500, path: '/none' } })
    await world.pass(MINUTE)
    expect(await world.doubts()).toEqual([])
    expect(await world.objects()).toMatchObject([{ incomplete: 0 }])
  })
})

describe('a vendor', () => {
  it('that asks us to wait is not asked until then, and no try is spent', async () => {
    const subscription = stripeSubscription()
    const world = await doubtWorld([subscription])
    await changeAccount(world.apiKey, {
      fail: { status: 429, retry_after: '120', times: 2, path: '/v1/subscriptions' },
    })
    await world.tell(...tied(subscription), ...tied(stripeSubscription()))
    await world.pass(FIRST)
    const asked = (await world.asked()).length
    expect(await world.doubts()).toMatchObject([{ tries: 0 }, { tries: 0 }])
    await world.pass(118 * SECOND)
    expect(await world.asked()).toHaveLength(asked)
    await world.pass(2 * SECOND)
    expect((await world.asked()).length).toBeGreaterThan(asked)
    expect((await world.objects()).find(({ vendor_id }) => vendor_id === subscription.id)).toMatchObject({
      ambiguous: 0,
    })
  })

  it('that refuses the key is not asked again, and the doubt ends', async () => {
    const world = await doubtWorld([])
    await changeAccount(world.apiKey, { fail: { status: 401 } })
    await world.tell(...tied(stripeSubscription()))
    for (const wait of [FIRST, MINUTE, 10 * MINUTE, 6 * HOUR]) await world.pass(wait)
    expect(await world.asked()).toHaveLength(1)
    expect(await world.doubts()).toEqual([])
    expect((await world.api(`/connections/${world.connection.id}/api-key`)).body.state).toBe('refused')
    expect((await world.api('/webhooks/health')).body.reasons).toContain(
      'the vendor no longer accepts the API key of the connection Stripe: replace it, or remove it',
    )
    await world.tell(...tied(stripeSubscription()))
    expect(await world.doubts()).toEqual([])
  })

  it('that fails is asked again; one of its objects is a try, the others wait', async () => {
    const world = await doubtWorld([])
    await changeAccount(world.apiKey, { fail: { status: 500 } })
    for (let i = 0; i < 8; i++) await world.tell(...tied(stripeSubscription()))
    await world.pass(FIRST)
    expect((await world.asked()).length).toBeLessThanOrEqual(4)
    expect(await world.doubts()).toHaveLength(8)
  })
})

it('a removed key, a deleted project: nobody is asked', async () => {
  const subscription = stripeSubscription()
  const world = await doubtWorld([subscription])
  await world.tell(...tied(subscription))
  await world.api(`/connections/${world.connection.id}/api-key`, { method: 'DELETE' })
  await world.pass(FIRST)
  expect(await world.asked()).toEqual([])
  expect(await world.doubts()).toMatchObject([{ tries: 1 }])
  await rows('UPDATE projects SET deleted_at = 1 WHERE id = ?', world.project)
  world.fetches.lose()
  advance(MINUTE)
  await cron(world.bindings)
  expect(world.fetches.waiting().filter(({ body }) => body.project_id === world.project)).toEqual([])
})

it('nothing is recorded about a customer whose consumer was erased', async () => {
  const subscription = stripeSubscription({ customer: 'cus_erased' })
  const world = await doubtWorld([subscription])
  await world.tell(...tied(subscription))
  await insertLink(world.project, 'cus_erased', { pinned: 'ers_1' })
  await world.pass(FIRST)
  expect(await world.fetched()).toEqual([])
})
