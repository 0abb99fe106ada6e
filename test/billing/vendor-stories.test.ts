import { describe, expect, it } from 'vitest'
import { setClock, stopClock } from '../clock'
import * as p from './payloads-more'
import { STORIES } from './vendor-stories'
import { vendorWorld } from './vendor-world'

/*
 * The life of a subscription of each vendor, and what its consumer may do. Times are days after 2026-01-01, with a grace of 7 days and
 * 48 hours for late renewals.
 */

describe.each(STORIES)('the story of $vendor', ({ vendor, consumer, refs, seats, lines, test }) => {
  it('is told by its events', async () => {
    stopClock(Date.parse(p.at(0)))
    const world = await vendorWorld(vendor)
    expect((await world.consumers.put(consumer)).status).toBeLessThan(300)
    await world.catalog.feature('sso')
    await world.catalog.feature('seats', { name: 'Seats', type: 'quantity' })
    const features = { sso: { value: true }, seats: { value: 1, per_seat: true } }
    const prices = refs.map((ref) => ({ vendor, ref }))
    expect((await world.catalog.plan({ key: 'pro', name: 'Pro', rank: 1, prices, features })).status).toBe(201)
    for (const [day, payload, reason] of lines) {
      setClock(Date.parse(p.at(day)))
      if (payload !== null) expect((await world.tell(payload)).status).toBe('processed')
      const { features: now } = await world.one(`ext:${consumer}`)
      const allowed = reason === 'plan'
      expect([day, now.sso, now.seats]).toEqual([
        day,
        expect.objectContaining({ allowed, reason }),
        expect.objectContaining({ allowed, reason, value: allowed ? seats : 0 }),
      ])
    }
    // A price that is mapped by one of its ids is not among those without a plan.
    const { body } = await world.api<{ prices: { price: string }[] }>('/plans/unmapped-prices')
    expect(body.prices.filter(({ price }) => refs.includes(price))).toEqual([])
  })

  it.runIf(test)('test mode counts for nothing', async () => {
    stopClock(Date.parse(p.at(100)))
    const world = await vendorWorld(vendor)
    await world.consumers.put(consumer)
    await world.catalog.feature('sso')
    const prices = refs.map((ref) => ({ vendor, ref }))
    await world.catalog.plan({ key: 'pro', name: 'Pro', rank: 1, prices, features: { sso: { value: true } } })
    if (vendor === 'square') await world.tell(p.squareEvent('customer.created', p.squareCustomer()), 'Sandbox')
    await world.tell(test?.payload, test?.environment)
    expect((await world.one(`ext:${consumer}`)).features.sso).toMatchObject({ allowed: false, reason: 'test_mode' })
  })
})
