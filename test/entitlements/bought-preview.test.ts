import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type * as z from 'zod'
import type { PlanPreview } from '../../src/entitlements/preview-routes'
import { amountOf } from '../../src/entitlements/resolve'
import { DEFAULTS } from '../../src/tenancy/settings'
import { shuffled } from '../billing/shuffle'
import { stopClock } from '../clock'
import { cases, inTurn } from '../harness'
import { dayAt, detailsOf, PAIRS } from './bought'
import { type BoughtWorld, boughtWorld, KEYS, type PlanKey, planned, play } from './bought-play'

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

type Told = { value: unknown; allowed: boolean }

/** @returns what the preview said, and what has become different for whom */
async function change(plan: PlanKey, json: object, { people, ids }: { people: string[]; ids: string[] }) {
  const path = `/billing/plans/${world.plans[plan]}`
  const before = await world.checked(people, DAY)
  const { body, text } = await world.ask<z.infer<typeof PlanPreview>>('POST', `${path}/preview`, { json })
  const patched = await world.ask('PATCH', path, { json })
  expect([patched.status, body.has_more], patched.text + text).toEqual([200, false])
  const after = await world.checked(people, DAY)
  const changes = ids
    .flatMap((consumer, n) =>
      KEYS.map((feature) => ({
        consumer,
        feature,
        from: before[n]?.[feature] as Told,
        to: after[n]?.[feature] as Told,
      })),
    )
    .filter(({ from, to }) => JSON.stringify(from.value) !== JSON.stringify(to.value))
  return { body, changes }
}

const amount = ({ value, allowed }: Told) => (typeof value === 'number' ? amountOf(value) : Number(allowed))

it('says who gains, who loses, and what', async () => {
  const everyone = { people: [] as string[], ids: [] as string[] }
  let differing = 0
  await world.setRules(DEFAULTS.purchase_rules)
  await fc.assert(
    fc.asyncProperty(detailsOf(inTurn(PAIRS, 1, Math.ceil(PAIRS.length / 3))), async (details) => {
      const { people, ids } = await play(world, details, shuffled)
      everyone.people.push(...people)
      everyone.ids.push(...ids)
      for (const [what, plan, changed] of CHANGES) {
        const { prices, features } = planned(plan)
        // The change, and back.
        for (const json of [changed(prices), { prices, features }]) {
          const { body, changes } = await change(plan, json, everyone)
          const count = (of: (more: number) => boolean) => {
            const those = Map.groupBy(
              changes.filter(({ from, to }) => of(amount(to) - amount(from))),
              ({ feature }) => feature,
            )
            return Object.fromEntries([...those].map(([feature, all]) => [feature, all.length]))
          }
          const { affected, gains, losses } = body
          expect({ what, affected, gains, losses }).toEqual({
            what,
            affected: new Set(changes.map(({ consumer }) => consumer)).size,
            gains: count((more) => more > 0),
            losses: count((more) => more < 0),
          })
          const listed = changes.map(({ from, to, ...one }) => ({ ...one, from: from.value, to: to.value }))
          const said = body.changes.map(({ vendor: _, customer: __, ...one }) => one)
          expect(listed).toEqual(expect.arrayContaining(said))
          expect(said).toHaveLength(Math.min(listed.length, 50))
          differing += listed.length
        }
      }
    }),
    { numRuns: cases(5), endOnFailure: true },
  )
  expect(differing).toBeGreaterThan(0)
}, 240_000)
