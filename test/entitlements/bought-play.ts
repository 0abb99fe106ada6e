import { expect } from 'vitest'
import { type ConsumerFacts, indexed, type PurchaseFact } from '../../src/entitlements/facts'
import type { PurchaseRules } from '../../src/entitlements/window'
import { newId } from '../../src/lib/ids'
import { HOUR } from '../../src/lib/time'
import { DEFAULTS } from '../../src/tenancy/settings'
import { setClock } from '../clock'
import { ofCustomer } from '../consumers/events'
import {
  buyerOf,
  dayAt,
  eventsOf,
  factOf,
  PEOPLE,
  type Sale,
  type SaleEvent,
  SOLD_PRICES,
  type Sold,
  sellerOf,
} from './bought'
import { entitlementWorld } from './world'

/* Plays the purchases of bought.ts: their events are delivered and processed in some order, the first half of them before it is asked for the first time. */

const FEATURES = [
  { key: 'flag', type: 'boolean' as const, combine: null },
  { key: 'most', type: 'quantity' as const, combine: 'max' as const },
  { key: 'sum', type: 'quantity' as const, combine: 'sum' as const },
  { key: 'conf', type: 'config' as const, combine: null },
]
export const FEATURE_KEYS = FEATURES.map(({ key }) => key)
const once = (value: unknown) => ({ value, per_seat: false })
const PLANS = {
  low: { rank: 1, features: { flag: once(true), most: { value: 2, per_seat: true }, sum: once(10) } },
  high: { rank: 2, features: { most: once(5), sum: { value: 100, per_seat: true }, conf: once('high') } },
}
export type PlanKey = keyof typeof PLANS
export const PLAN_KEYS = ['low', 'high'] as const satisfies PlanKey[]

/** The days on which the first half of the events has been processed, and on which all of them have. */
export const [HALFWAY, DONE] = [70, 71]

/** A plan as it was made. */
export const planned = (key: PlanKey) => ({
  ...PLANS[key],
  prices: SOLD_PRICES.filter(({ plan }) => plan === key).flatMap(({ ref, lasts, again }) =>
    ['stripe', 'paddle'].map((vendor) => ({ vendor, ref, ...(lasts && { lasts }), ...(again && { again }) })),
  ),
})

/** A project that sells both plans. */
export async function boughtWorld() {
  const world = await entitlementWorld()
  await Promise.all(
    FEATURES.map(({ key, type, combine }) =>
      world.catalog.feature(key, { name: key, type, ...(combine && { combine }) }),
    ),
  )
  const plans = { low: '', high: '' }
  for (const key of PLAN_KEYS) {
    const { status, text, body } = await world.catalog.plan({ key, name: key, ...planned(key) })
    expect(status, text).toBe(201)
    plans[key] = body.id
  }
  return {
    ...world,
    plans,
    setRules: async (purchase_rules: PurchaseRules) => {
      setClock(dayAt(0))
      expect((await world.settings({ purchase_rules })).status).toBe(200)
    },
    /** What a check says of these consumers on a day, each as its features. */
    checked: async (people: readonly string[], day: number) => {
      setClock(dayAt(day))
      const { body, text } = await world.check(
        people.map((name) => `ext:${name}`),
        FEATURE_KEYS,
      )
      expect(body.data, text).toHaveLength(people.length)
      return body.data.map(({ features }) => features)
    },
  }
}
export type BoughtWorld = Awaited<ReturnType<typeof boughtWorld>>
type Explained = Awaited<ReturnType<BoughtWorld['one']>>['features']

/** Consumers by their external ids, in this order: their own ids, what was explained halfway, what a person says that they have in the end, and what they bought. */
export type Played = {
  people: string[]
  ids: string[]
  halfway: (Explained | null)[]
  holders: ConsumerFacts[]
  bought: Sold[][]
}

/** @param asked which of the consumers are asked about halfway */
export async function playSales(
  world: BoughtWorld,
  details: readonly Sale[],
  inOrder: (events: readonly SaleEvent[]) => readonly SaleEvent[],
  asked: readonly number[] = [],
): Promise<Played> {
  const run = newId('evt', Date.now()).slice(-8)
  const people = Array.from({ length: PEOPLE }, (_, n) => `p${n}_${run}`)
  const customerBy = (one: Sale) => buyerOf(sellerOf(one), people[one.person] ?? '')
  const sold = details.map((one, n): Sold => {
    return { ...one, id: `${sellerOf(one) === 'paddle' ? 'txn' : 'pi'}_${n}_${run}`, customer: customerBy(one) }
  })
  setClock(dayAt(0))
  const ids: string[] = []
  for (const name of people) {
    ids.push((await world.consumers.put(name)).body.id)
    await world.send(ofCustomer(buyerOf('stripe', name), name))
    await world.consumers.pin(buyerOf('paddle', name), `ext:${name}`, 'paddle')
  }
  const told = sold.flatMap(eventsOf)
  const order = inOrder(told)
  const half = Math.floor(order.length / 2)
  const records = new Map<SaleEvent, string>()
  const deliver = async (some: readonly SaleEvent[]) => {
    const recorded = await world.deliverTogether(some.map(({ event }) => event))
    for (const [n, one] of some.entries()) records.set(one, recorded[n] ?? '')
  }
  setClock(dayAt(HALFWAY) - HOUR)
  await deliver(order.slice(0, half))
  setClock(dayAt(HALFWAY))
  const halfway: Played['halfway'] = people.map(() => null)
  for (const n of asked) halfway[n] = (await world.one(`ext:${people[n]}`, '?explain=true')).features
  setClock(dayAt(DONE) - HOUR)
  await deliver(order.slice(half))
  const facts = sold.map((one): PurchaseFact => {
    const own = told.filter(({ of }) => of === one)
    const recorded = own.map((each) => ({ ...each, record: records.get(each) ?? '' }))
    return factOf(one, recorded, (key) => world.plans[key])
  })
  const holders = people.map((name): ConsumerFacts => {
    const customers = ['stripe', 'paddle'].map((vendor) => buyerOf(vendor, name))
    const purchases = facts.filter(({ customer }) => customers.includes(customer ?? ''))
    return { state: 'active', subscriptions: [], purchases, grants: [] }
  })
  const bought = people.map((_, n) => sold.filter(({ person }) => person === n))
  return { people, ids, halfway, holders, bought }
}

/** What the project sells under rules, in memory. */
export function catalogBy({ plans }: BoughtWorld, purchase_rules: PurchaseRules) {
  return indexed({
    features: FEATURES,
    plans: PLAN_KEYS.map((key) => ({ id: plans[key], key, ...PLANS[key] })),
    rules: { ...DEFAULTS, purchase_rules },
  })
}
