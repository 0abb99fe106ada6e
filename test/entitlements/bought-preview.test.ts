import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type * as z from 'zod'
import { MAX_CHANGES } from '../../src/entitlements/limits'
import type { PlanPreview } from '../../src/entitlements/preview-fields'
import type { PurchaseRules } from '../../src/entitlements/window'
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
/** Rules, one after the other. */
const RULES: [what: string, rules: PurchaseRules][] = [
  [
    'nothing is taken back',
    { refunded_part: 'keep', refunded_whole: 'keep', dispute_open: 'keep', dispute_lost: 'keep' },
  ],
  ['everything is', { refunded_part: 'end', refunded_whole: 'end', dispute_open: 'suspend', dispute_lost: 'end' }],
  ['as without rules', DEFAULTS.purchase_rules],
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
type Change = { preview: () => Promise<Answered>; make: () => Promise<void> }
type Answered = { status: number; text: string; body: z.infer<typeof PlanPreview> }

/** A change of a plan. */
const ofPlan = (plan: PlanKey, json: object): Change => {
  const path = `/billing/plans/${world.plans[plan]}`
  return {
    preview: () => world.ask('POST', `${path}/preview`, { json }),
    make: async () => {
      const patched = await world.ask('PATCH', path, { json })
      expect(patched.status, patched.text).toBe(200)
    },
  }
}
/** A change of the rules for what was taken back. */
const ofRules = (rules: PurchaseRules): Change => ({
  preview: async () => {
    const { version: _, settings: __, ...catalog } = (await world.catalog.whole()).body
    const json = { ...catalog, settings: { purchase_rules: rules } }
    return world.ask('POST', '/billing/catalog/preview', { json })
  },
  make: () => world.setRules(rules),
})

/** Makes a change. @returns what its preview said, and what has become different */
async function change(of: Change, { people, ids }: Everyone) {
  const before = await world.checked(people, DAY)
  const preview = await of.preview()
  expect([preview.status, preview.body.has_more], preview.text).toEqual([200, false])
  await of.make()
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

async function compare(what: string, of: Change, everyone: Everyone): Promise<number> {
  const { said, differences } = await change(of, everyone)
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
  let [differing, ruled] = [0, 0]
  await world.setRules(DEFAULTS.purchase_rules)
  await fc.assert(
    fc.asyncProperty(salesOf(inTurn(PAIRS, 3, SHARE)), async (details) => {
      const { people, ids } = await playSales(world, details, shuffled)
      everyone.people.push(...people)
      everyone.ids.push(...ids)
      for (const [what, plan, changed] of CHANGES) {
        const { prices, features } = planned(plan)
        differing += await compare(what, ofPlan(plan, changed(prices)), everyone)
        differing += await compare(`back: ${what}`, ofPlan(plan, { prices, features }), everyone)
      }
      for (const [what, rules] of RULES) ruled += await compare(what, ofRules(rules), everyone)
    }),
    { numRuns: cases(2), endOnFailure: true },
  )
  expect([differing > 0, ruled > 0]).toEqual([true, true])
}, 240_000)
