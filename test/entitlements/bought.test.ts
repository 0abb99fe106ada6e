import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ConsumerFacts } from '../../src/entitlements/facts'
import { resolve } from '../../src/entitlements/resolve'
import type { PurchaseRules } from '../../src/entitlements/window'
import { iso, isoOrNull } from '../../src/lib/time'
import { DEFAULTS } from '../../src/tenancy/settings'
import { shuffled } from '../billing/shuffle'
import { setClock, stopClock } from '../clock'
import { cases, inTurn } from '../harness'
import { dayAt, PAIRS, PEOPLE, type SaleEvent, SHARE, SOLD_PRICES, type SoldPrice, salesOf } from './bought'
import { saidOf } from './bought-oracle'
import {
  type BoughtWorld,
  boughtWorld,
  catalogBy,
  DONE,
  FEATURE_KEYS,
  HALFWAY,
  type Played,
  playSales,
} from './bought-play'

/*
 * What purchases give: the answers after real deliveries are compared with those that bought-oracle.ts finds by the documentation alone, and the
 * explanations with the resolver's for facts that the test has written down itself. Each rule, each length, each way of being bought again, each fate of a purchase, and each order of events.
 */

/** Every value of the setting `purchase_rules`. */
const RULES = (['keep', 'end'] as const).flatMap((refunded_part) =>
  (['keep', 'end'] as const).flatMap((refunded_whole) =>
    (['keep', 'suspend'] as const).flatMap((dispute_open) =>
      (['keep', 'end'] as const).map(
        (dispute_lost): PurchaseRules => ({ refunded_part, refunded_whole, dispute_open, dispute_lost }),
      ),
    ),
  ),
)
const ORDERS: [name: string, inOrder: (events: readonly SaleEvent[]) => readonly SaleEvent[]][] = [
  ['as they happened', (events) => events],
  ['the other way round', (events) => events.toReversed()],
  ['in no order', shuffled],
]
/** Days on which answers are asked for: while things are bought, and after most of them have ended. */
const ASKED = [25, 61, 80, 200, 420]

let world: BoughtWorld
beforeAll(async () => {
  stopClock(dayAt(0))
  world = await boughtWorld()
})

/** The product's answers about everyone, and those of the documentation. */
async function compareChecks({ people, bought }: Played, rules: PurchaseRules, day: number) {
  const features = await world.checked(people, day)
  for (const [n, own] of bought.entries()) {
    const of = { day, rules, bought: own }
    expect({ ...of, features: features[n] }).toEqual({ ...of, features: saidOf(own, rules, day) })
  }
}

/** What an explanation says of each source: its time, whether it counts, and what took it back by which event; and the same in memory. */
async function compareExplained({ people, holders }: Played, n: number, rules: PurchaseRules, day: number) {
  setClock(dayAt(day))
  const { features } = await world.one(`ext:${people[n]}`, '?explain=true')
  const catalog = catalogBy(world, rules)
  for (const key of FEATURE_KEYS) {
    const { sources } = resolve(key, holders[n] as ConsumerFacts, catalog, dayAt(day))
    const expected = sources.map(({ id, price, seats, from, until, event_id, counted, cause }) => {
      const times = { from: isoOrNull(from), until: isoOrNull(until) }
      return { id, price, seats, ...times, event_id, counted, ...(cause !== null && { why_not: cause }) }
    })
    const said = features[key]?.sources?.filter(({ plan }) => plan !== null)
    expect(said).toHaveLength(expected.length)
    expect(said).toEqual(expect.arrayContaining(expected.map((one) => expect.objectContaining(one))))
  }
}

/** What was explained halfway, asked for in the end. */
async function compareWithThen({ people, halfway }: Played, n: number) {
  setClock(dayAt(DONE))
  const query = `?explain=true&at=${iso(dayAt(HALFWAY))}`
  const { features, exact, missing } = await world.one(`ext:${people[n]}`, query)
  expect({ features, exact, missing }).toEqual({ features: halfway[n], exact: true, missing: [] })
}

describe('purchases whose events come', () => {
  it.each(ORDERS.map(([name, inOrder], nth) => ({ name, inOrder, nth })))(
    '$name give what the documentation says',
    async ({ inOrder, nth }) => {
      // In a short run, each order takes a part of the cases.
      const pairs = inTurn(PAIRS, nth, SHARE)
      const rules = inTurn(RULES, nth, Math.ceil(RULES.length / ORDERS.length))
      const everyone = Array.from({ length: PEOPLE }, (_, n) => n)
      await fc.assert(
        fc.asyncProperty(salesOf(pairs), async (details) => {
          await world.setRules(DEFAULTS.purchase_rules)
          const asked = inTurn(everyone, nth, PEOPLE / ORDERS.length)
          const played = await playSales(world, details, inOrder, asked)
          for (const n of asked) await compareWithThen(played, n)
          for (const [n, one] of rules.entries()) {
            await world.setRules(one)
            for (const day of inTurn(ASKED, nth + n)) {
              await compareChecks(played, one, day)
              await compareExplained(played, (nth + n + day) % PEOPLE, one, day)
            }
          }
        }),
        { numRuns: cases(2), endOnFailure: true },
      )
    },
    240_000,
  )

  it('say of seats that were returned in full that they were refunded, also once their time is over', async () => {
    const price = SOLD_PRICES.find(({ plan, lasts }) => plan === 'high' && lasts === 'P10D') as SoldPrice
    const sale = { price, fate: 'by Paddle, both items returned', person: 0, day: 20, quantity: 2, second: null }
    const played = await playSales(world, [sale], (events) => events)
    for (const day of ASKED) await compareChecks(played, DEFAULTS.purchase_rules, day)
  })
})
