import { beforeAll, expect, it } from 'vitest'
import { DAY } from '../../src/lib/time'
import { stripeEventOf, stripeItem, stripeSubscription } from '../billing/payloads'
import { entitlementWorld } from './world'

/* What the quantity of an item makes of what its plan gives: only what is given for each seat is multiplied. */

let world: Awaited<ReturnType<typeof entitlementWorld>>
beforeAll(async () => {
  world = await entitlementWorld()
  const quantity = { name: 'Quantity', type: 'quantity' }
  for (const key of ['each', 'each_unlimited', 'whole', 'whole_unlimited']) await world.catalog.feature(key, quantity)
  await world.catalog.feature('flag')
  await world.catalog.plan({
    key: 'seats',
    name: 'Seats',
    features: {
      each: { value: 5, per_seat: true },
      each_unlimited: { value: 'unlimited', per_seat: true },
      whole: { value: 5 },
      whole_unlimited: { value: 'unlimited' },
      flag: { value: true },
    },
    prices: [{ vendor: 'stripe', ref: 'price_seats' }],
  })
})

const UNLIMITED = 'unlimited'

it.each([
  [0, { each: 0, each_unlimited: 0 }],
  [1, { each: 5, each_unlimited: UNLIMITED }],
  [3, { each: 15, each_unlimited: UNLIMITED }],
  [null, { each: 5, each_unlimited: UNLIMITED }],
])('%s seats', async (quantity, given) => {
  const own = `of_${quantity}`
  await world.consumers.put(own)
  const start = Math.floor(Date.now() / 1000)
  const period = { current_period_start: start, current_period_end: start + (30 * DAY) / 1000 }
  const item = stripeItem({ price: { id: 'price_seats', product: 'prod_x' }, quantity, ...period })
  const made = stripeSubscription({
    ...{ id: `sub_${own}`, customer: `cus_${own}`, status: 'active', metadata: { consumer_external_id: own } },
    items: { object: 'list', data: [item], has_more: false },
  })
  await world.deliver({ ...stripeEventOf('customer.subscription.updated', made), livemode: true })
  const { features } = await world.one(`ext:${own}`)
  const values = Object.fromEntries(Object.entries(features).map(([key, { value }]) => [key, value]))
  expect(values).toEqual({ ...given, whole: 5, whole_unlimited: UNLIMITED, flag: true })
  for (const [key, { allowed }] of Object.entries(features)) expect([key, allowed]).toEqual([key, values[key] !== 0])
})
