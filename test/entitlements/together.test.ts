import { expect, it } from 'vitest'
import { HOUR, iso, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { entitlementWorld, sellPlans } from './world'

/* A check about many consumers answers each as if it were asked about alone, whatever the others have. */

const FEATURES = ['sso', 'seats', 'projects', 'limits']

/** What each has: grants, the oldest first, and whether they have expired by now. */
const HAVE: Record<string, { expired: object[]; live: object[] }> = {
  expired: { expired: [{ feature: 'sso' }], live: [] },
  often: { expired: Array.from({ length: 7 }, () => ({ feature: 'sso' })), live: [] },
  denied: { expired: [{ feature: 'sso' }], live: [{ feature: 'sso', effect: 'deny' }] },
  richer: { expired: [{ feature: 'seats', value: 3 }], live: [{ feature: 'seats', value: 9 }, { plan: 'pro' }] },
  least: { expired: [], live: [{ feature: 'seats', value: 1 }] },
  config: { expired: [], live: [{ feature: 'limits', value: { rows: 1 } }] },
  nothing: { expired: [], live: [] },
}

it('of any of them, in any company', async () => {
  stopClock()
  const world = await entitlementWorld()
  await sellPlans(world)
  const names = Object.keys(HAVE)
  const expires_at = iso(Date.now() + HOUR)
  for (const name of names) {
    await world.consumers.put(name)
    const { expired, live } = HAVE[name] as (typeof HAVE)[string]
    for (const grant of expired) {
      advance(SECOND) // so that their ids are in this order
      const { status } = await world.grant({ consumer: `ext:${name}`, expires_at, ...grant })
      expect(status).toBe(201)
    }
    for (const grant of live) expect((await world.grant({ consumer: `ext:${name}`, ...grant })).status).toBe(201)
  }
  advance(HOUR)
  const all = [...names, 'nobody'].map((name) => `ext:${name}`)
  const ask = async (consumers: string[]) => (await world.check(consumers, FEATURES)).body.data
  const alone = []
  for (const consumer of all) alone.push(...(await ask([consumer])))
  expect(alone).toHaveLength(all.length)
  expect(await ask(all)).toEqual(alone)
  expect(await ask(all.toReversed())).toEqual(alone.toReversed())
})
