import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type * as z from 'zod'
import { MAX_CHANGES } from '../../src/entitlements/limits'
import type { PlanPreview } from '../../src/entitlements/preview-fields'
import { DEFAULTS } from '../../src/tenancy/settings'
import { shuffled } from '../billing/shuffle'
import { stopClock } from '../clock'
import { cases, inTurn } from '../harness'
import { dayAt, PAIRS, SHARE, salesOf } from './bought'
import {
  type BoughtWorld,
  boughtWorld,
  FEATURE_KEYS,
  type PlanKey,
  type Played,
  planned,
  playSales,
} from './bought-play'

/* The preview of a change of a plan says what checks before and after the change show, for purchases of every kind. */

type Prices = ReturnType<typeof planned>['prices']
const CHANGES: [what: string, plan: PlanKey, change: (prices: Prices) => { prices?: object[]; features?: object }][] = [
  [
    'a longer time',
    'low',
    (all) => ({ prices: all.map((one) => ({ ...one, ...(one.lasts === 'P10D' && { lasts: 'P1Y' }) })) }),
  ],
  [
    'beside in place of after',
    'low',
    (all) => ({ prices: all.map((one) => ({ ...one, ...(one.lasts && { again: 'beside' }) })) }),
  ],
  ['no time any more', 'high', (all) => ({ prices: all.map(({ vendor, ref }) => ({ vendor, ref })) })],
  ['a time for what had none', 'low', (all) => ({ prices: all.map((one) => ({ lasts: 'forever', ...one })) })],
  ['without some prices', 'high', (all) => ({ prices: all.filter(({ lasts }) => lasts !== 'forever') })],
  [
    'other values',
    'high',
    () => ({ features: { flag: { value: true }, sum: { value: 7 }, conf: { value: 'other' } } }),
  ],
]
/** A day on which some of the time that was bought is over. */
const DAY = 80

let world: BoughtWorld
beforeAll(async () => {
  stopClock(dayAt(0))
  world = await boughtWorld()
})

type Answer = { value: unknown; allowed: boolean }
type Difference = { consumer: string; feature: string; from: Answer; to: Answer }
type Everyone = Pick<Played, 'people' | 'ids'>

/** Changes a plan. @returns what the preview said, and what has become different */
async function change(plan: PlanKey, json: object, { people, ids }: Everyone) {
  const path = `/billing/plans/${world.plans[plan]}`
  const before = await world.checked(people, DAY)
  const preview = await world.ask<z.infer<typeof PlanPreview>>('POST', `${path}/preview`, { json })
  expect([preview.status, preview.body.has_more], preview.text).toEqual([200, false])
  const patched = await world.ask('PATCH', path, { json })
  expect(patched.status, patched.text).toBe(200)
  const after = await world.checked(people, DAY)
  const all = ids.flatMap((consumer, n) =>
    FEATURE_KEYS.map((feature): Difference => {
      return { consumer, feature, from: before[n]?.[feature] as Answer, to: after[n]?.[feature] as Answer }
    }),
  )
  const isDifferent = ({ from, to }: Difference) => JSON.stringify(from.value) !== JSON.stringify(to.value)
  return { said: preview.body, differences: all.filter(isDifferent) }
}

/** How many consumers have more of each feature, or, with -1, less. A config is neither. */
function countOf(differences: readonly Difference[], sign: 1 | -1) {
  const amount = ({ value, allowed }: Answer) => (typeof value === 'number' ? value : Number(allowed))
  const those = differences.filter(({ from, to }) => Math.sign(amount(to) - amount(from)) === sign)
  const byFeature = Map.groupBy(those, ({ feature }) => feature)
  return Object.fromEntries([...byFeature].map(([feature, own]) => [feature, own.length]))
}

async function compare(what: string, plan: PlanKey, json: object, everyone: Everyone): Promise<number> {
  const { said, differences } = await change(plan, json, everyone)
  const { affected, gains, losses } = said
  expect({ what, affected, gains, losses }).toEqual({
    what,
    affected: new Set(differences.map(({ consumer }) => consumer)).size,
    gains: countOf(differences, 1),
    losses: countOf(differences, -1),
  })
  const listed = differences.map(({ from, to, ...one }) => ({ ...one, from: from.value, to: to.value }))
  const changes = said.changes.map(({ vendor: _, customer: __, ...one }) => one)
  expect(listed).toEqual(expect.arrayContaining(changes))
  expect(changes).toHaveLength(Math.min(listed.length, MAX_CHANGES))
  return listed.length
}

it('says who gains, who loses, and what', async () => {
  const everyone: Everyone = { people: [], ids: [] }
  let differing = 0
  await world.setRules(DEFAULTS.purchase_rules)
  await fc.assert(
    fc.asyncProperty(salesOf(inTurn(PAIRS, 3, SHARE)), async (details) => {
      const { people, ids } = await playSales(world, details, shuffled)
      everyone.people.push(...people)
      everyone.ids.push(...ids)
      for (const [what, plan, changed] of CHANGES) {
        const { prices, features } = planned(plan)
        differing += await compare(what, plan, changed(prices), everyone)
        differing += await compare(`back: ${what}`, plan, { prices, features }, everyone)
      }
    }),
    { numRuns: cases(2), endOnFailure: true },
  )
  expect(differing).toBeGreaterThan(0)
}, 240_000)
