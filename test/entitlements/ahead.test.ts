import { expect, it } from 'vitest'
import { DAY, iso } from '../../src/lib/time'
import { stripeEventOf, stripeItem, stripeSubscription } from '../billing/payloads'
import { setClock, stopClock } from '../clock'
import { entitlementWorld, sellPlans } from './world'

const START = 1_780_000_000_000

/** An event about a subscription of ada's. */
function event(id: string, plan: string, fields: object) {
  const period = { current_period_start: START / 1000, current_period_end: START / 1000 + (30 * DAY) / 1000 }
  const item = stripeItem({ price: { id: `price_${plan}`, product: 'prod_x' }, quantity: 2, ...period })
  const items = { object: 'list', data: [item], has_more: false }
  const made = stripeSubscription({
    id,
    customer: 'cus_1',
    metadata: { consumer_external_id: 'ada' },
    items,
    ...fields,
  })
  return { ...stripeEventOf('customer.subscription.updated', made, { at: START / 1000 }), livemode: true }
}

it('is at a time ahead what will be answered then, if nothing happens until then', async () => {
  stopClock(START)
  const world = await entitlementWorld()
  await sellPlans(world)
  await world.consumers.put('ada')
  await world.deliver(
    event('sub_1', 'pro', { status: 'active', cancel_at: (START + 10 * DAY) / 1000 }),
    event('sub_2', 'starter', { status: 'past_due' }),
  )
  const grant = { plan: 'starter', starts_at: iso(START + 15 * DAY), expires_at: iso(START + 20 * DAY) }
  expect((await world.ask('POST', '/billing/grants', { json: { consumer: 'ext:ada', ...grant } })).status).toBe(201)
  const at = (day: number) => world.one('ext:ada', `?at=${iso(START + day * DAY)}`)
  const days = [1, 5, 9, 10, 12, 14, 15, 19, 20, 30, 45, 399]
  const foretold = []
  for (const day of days) foretold.push(await at(day))
  expect(new Set(foretold.map(({ features }) => JSON.stringify(features))).size).toBeGreaterThan(3)
  for (const [i, day] of days.entries()) {
    const as_of = iso(START + day * DAY)
    expect(foretold[i]).toMatchObject({ exact: false, as_of, missing: [expect.stringContaining('until then')] })
    setClock(START + day * DAY)
    expect([day, (await world.one('ext:ada')).features]).toEqual([day, foretold[i]?.features])
  }
  const explained = await world.one('ext:ada', `?explain=true&at=${iso(START + 400 * DAY)}`)
  expect(explained.features.sso).toMatchObject({ allowed: false })
})
