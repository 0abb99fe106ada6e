import { expect, it } from 'vitest'
import { DAY, HOUR, iso, MINUTE } from '../../src/lib/time'
import {
  paddleEventOf,
  paddleItem,
  paddleSubscription,
  stripeEventOf,
  stripeItem,
  stripeSubscription,
} from '../billing/payloads'
import { advance, stopClock } from '../clock'
import { visit } from '../console/visit'
import { entitlementWorld, sellPlans } from '../entitlements/world'
import { addMember } from '../harness'
import { cron } from '../inbox/pipeline'

/*
 * Ids are a vendor's own: what one vendor says of a customer, a subscription, a price or a product changes nothing that is
 * answered about those with the same ids at another.
 */

const START = 1_780_000_000_000

/** What is answered about ada and what Stripe has said of her. */
const ANSWERS = [
  '/consumers/ext:ada',
  '/consumers/ext:ada/entitlements',
  '/consumers/ext:ada/entitlements?explain=true',
  `/consumers/ext:ada/entitlements?at=${iso(START + HOUR)}`,
  '/billing/customers?vendor=stripe',
  '/billing/customers?consumer=ext:ada',
  '/billing/customers/stripe/id_customer',
  '/billing/subscriptions?vendor=stripe',
  '/billing/subscriptions/id_subscription?vendor=stripe',
  '/billing/plans/unmapped-prices',
]

it('A vendor’s ids say nothing of the same ids at another vendor', async () => {
  stopClock(START)
  const world = await entitlementWorld()
  await sellPlans(world)
  for (const name of ['ada', 'eve']) await world.consumers.put(name)
  const period = { current_period_start: START / 1000, current_period_end: (START + 30 * DAY) / 1000 }
  const item = (id: string, product: string) => stripeItem({ price: { id, product }, quantity: 2, ...period })
  const hers = stripeSubscription({
    ...{ id: 'id_subscription', customer: 'id_customer', metadata: { consumer_external_id: 'ada' } },
    items: { object: 'list', data: [item('price_pro', 'id_product'), item('id_price', 'id_product')], has_more: false },
  })
  await world.deliver({ ...stripeEventOf('customer.subscription.updated', hers, { at: START / 1000 }), livemode: true })
  advance(DAY)
  const answers = async () => {
    const all = await Promise.all(ANSWERS.map((path) => world.ask('GET', path)))
    expect(all.map(({ status }) => status)).toEqual(ANSWERS.map(() => 200))
    return Object.fromEntries(ANSWERS.map((path, n) => [path, all[n]?.body]))
  }
  const before = await answers()
  expect(before).toMatchObject({
    '/billing/customers/stripe/id_customer': { external_id: 'ada' },
    '/billing/subscriptions?vendor=stripe': { data: [{ id: 'id_subscription' }] },
    '/billing/plans/unmapped-prices': { prices: [{ price: 'id_price' }] },
    '/consumers/ext:ada/entitlements': { features: { projects: { value: 'unlimited' } } },
  })

  // Another vendor has them all, and a plan has its price and product.
  const prices = ['id_price', 'id_product'].map((ref) => ({ vendor: 'paddle', ref }))
  await world.catalog.plan({ key: 'other', name: 'Other', rank: 99, features: { projects: { value: 5 } }, prices })
  const theirs = paddleSubscription({
    ...{ id: 'id_subscription', customer_id: 'id_customer', custom_data: { consumer_external_id: 'eve' } },
    items: [paddleItem({ price: { id: 'id_price', product_id: 'id_product' } })],
    current_billing_period: { starts_at: iso(START), ends_at: iso(START + 30 * DAY) },
  })
  await world.deliver(paddleEventOf('subscription.updated', theirs))
  expect((await world.one('ext:eve')).features.projects).toMatchObject({ value: 5 })
  expect(await answers()).toEqual(before)
  // Nor in the console's list.
  const { token } = await addMember(world.project, 'viewer')
  const { text } = await visit(`/console/p/${world.project}/platform/consumers`, token)
  const planOf = async (name: string) => {
    const { id } = (await world.consumers.get(`ext:${name}`)).body
    return /Other|Pro\b/.exec(text.split('<tr').find((row) => row.includes(`${id}">`)) ?? '')?.[0]
  }
  expect([await planOf('ada'), await planOf('eve')]).toEqual(['Pro', 'Other'])
})

it('An erasure takes nothing of others whose ids are the same at another vendor', async () => {
  stopClock()
  const { consumers, deliver, objects, queue } = await entitlementWorld()
  const { id } = (await consumers.put('hers')).body
  await consumers.pin('cus_hers', id)
  // The subscription has the id of one of Stripe's, and its customer that of hers.
  const theirs = paddleSubscription({ id: 'sub_1', customer_id: 'cus_hers', custom_data: { note: 'theirs' } })
  const another = stripeSubscription({ id: 'sub_1', customer: 'cus_another', metadata: { note: 'another' } })
  const hers = stripeSubscription({ id: 'sub_2', customer: 'cus_hers', metadata: { note: 'hers' } })
  await deliver(
    paddleEventOf('subscription.updated', theirs),
    stripeEventOf('customer.subscription.created', another),
    stripeEventOf('customer.subscription.created', hers),
  )
  await consumers.erase(id)
  advance(MINUTE)
  for (let runs = 0; runs < 10; runs++) await cron({ EVENTS: queue.EVENTS })
  expect((await consumers.erasure(id)).body.state).toBe('done')
  // The customer of the other vendor can be anybody's.
  const somebody = (await consumers.put('somebody')).body.id
  expect((await consumers.pin('cus_hers', somebody, 'paddle')).status).toBe(200)
  expect((await consumers.pin('cus_hers', somebody)).status).toBe(409)
  const notes = (await objects()).map(({ candidates }) => /"note":"(\w+)"/.exec(candidates)?.[1])
  expect(notes.sort()).toEqual(['another', 'theirs', undefined])
})

it('What is done to a customer changes nothing for the one with the same id at another vendor', async () => {
  stopClock()
  const { consumers } = await entitlementWorld()
  for (const name of ['hers', 'his', 'theirs']) await consumers.put(name)
  await consumers.pin('cus_1', 'ext:hers')
  const before = (await consumers.customer('cus_1')).body
  expect(before).toMatchObject({ external_id: 'hers', linked_by: 'manual' })
  const { id } = (await consumers.get('ext:theirs')).body
  const steps = {
    pinned: () => consumers.pin('cus_1', 'ext:his', 'paddle'),
    merged: () => consumers.merge('ext:his', id),
    set_to_nobody: () => consumers.pin('cus_1', null, 'paddle'),
    unpinned: () => consumers.unpin('cus_1', 'paddle'),
    pinned_again: () => consumers.pin('cus_1', id, 'paddle'),
    erased: () => consumers.erase(id),
  }
  for (const [what, step] of Object.entries(steps)) {
    expect([what, (await step()).status < 300]).toEqual([what, true])
    expect([what, (await consumers.customer('cus_1')).body]).toEqual([what, before])
  }
})
