import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { DAY, HOUR } from '../../src/lib/time'
import { setClock, stopClock } from '../clock'
import { ofCustomer } from '../consumers/events'
import { cases } from '../harness'
import { entitlementWorld } from './world'

/*
 * Events, catalog, grants and links in any order end in the same answers: over the real deliveries, consumer and database, and
 * compared with what a person would say after reading the whole history, written down here without a look at the product's code.
 */

const START = 1_780_000_000_000
const PEOPLE = ['u1', 'u2'] as const
const PRICES = ['a', 'b', 'none'] as const
const FEATURES = ['flag', 'most', 'sum', 'conf'] as const
const day = (n: number) => START + n * DAY

const event = fc.record({
  sub: fc.constantFrom('s1', 's2'),
  at: fc.integer({ min: 0, max: 40 }),
  status: fc.constantFrom('active', 'active', 'trialing', 'past_due', 'past_due', 'unpaid', 'canceled', 'odd'),
  period: fc.constantFrom(0, 30),
  price: fc.constantFrom(...PRICES),
  quantity: fc.integer({ min: 0, max: 3 }),
  live: fc.constantFrom(true, true, false),
})
const plan = fc.record({
  flag: fc.boolean(),
  most: fc.option(fc.constantFrom(0, 2, 5, 'unlimited' as const)),
  sum: fc.option(fc.constantFrom(1, 4)),
  conf: fc.option(fc.constantFrom('x', 'y')),
  perSeat: fc.boolean(),
  rank: fc.integer({ min: 0, max: 1 }),
})
const grant = fc.record({
  person: fc.constantFrom(...PEOPLE),
  what: fc.constantFrom('flag', 'most', 'sum', 'a', 'b', 'deny flag', 'deny most'),
  expires: fc.option(fc.integer({ min: 45, max: 80 })),
})
const history = fc.record({
  // One event of a subscription at one time: ties are tested where objects are.
  events: fc.uniqueArray(event, { minLength: 1, maxLength: 6, selector: ({ sub, at }) => `${sub} ${at}` }),
  plans: fc.record({ a: plan, b: plan }),
  grants: fc.array(grant, { maxLength: 4 }),
  owner: fc.constantFrom(...PEOPLE, null),
  // Outranks what the event of the customer says.
  pin: fc.option(fc.constantFrom(...PEOPLE)),
  asked: fc.integer({ min: 41, max: 90 }),
  orders: fc.tuple(fc.infiniteStream(fc.nat()), fc.infiniteStream(fc.nat())),
})
type History = typeof history extends fc.Arbitrary<infer T> ? T : never
type Plan = History['plans']['a']

it('ends in the same answers in every order, which are the right ones', async () => {
  stopClock(day(40) + HOUR)
  const world = await entitlementWorld()
  await Promise.all([
    world.catalog.feature('flag'),
    world.catalog.feature('most', { name: 'Most', type: 'quantity' }),
    world.catalog.feature('sum', { name: 'Sum', type: 'quantity', combine: 'sum' }),
    world.catalog.feature('conf', { name: 'Conf', type: 'config' }),
  ])
  const made = { a: '', b: '' }
  for (const key of ['a', 'b'] as const) made[key] = (await world.catalog.plan({ key, name: key })).body.id

  /** Plays a history under names of its own. @returns what each person may do */
  async function play(one: History, order: fc.Stream<number>, batched: boolean) {
    setClock(day(40) + HOUR)
    const own = newId('evt', Date.now()).slice(-8)
    const name = (text: string) => `${text}_${own}`
    for (const person of PEOPLE) await world.consumers.put(name(person))
    // The prices of the last history go first, so that each is free.
    for (const key of ['a', 'b'] as const) await world.catalog.change(made[key], { prices: [] })
    const steps: (() => Promise<unknown>)[] = [
      ...one.events.map((event) => async () => {
        await world.send(eventOf(event, name))
        if (!batched) await world.queue.pump()
      }),
      ...(['a', 'b'] as const).map((key) => async () => {
        const { status, text } = await world.catalog.change(made[key], planOf(one.plans[key], name(key)))
        expect(status, text).toBe(200)
      }),
      ...one.grants.map((grant) => async () => {
        const { status, text } = await world.grant(grantOf(grant, name))
        expect(status, text).toBe(201)
      }),
      async () => {
        if (one.owner !== null) await world.send(ofCustomer(name('cus'), name(one.owner)))
      },
      async () => {
        if (one.pin !== null) await world.consumers.pin(name('cus'), `ext:${name(one.pin)}`)
      },
    ]
    while (steps.length > 0) await steps.splice(order.next().value % steps.length, 1)[0]?.()
    await world.queue.pump()
    setClock(day(one.asked))
    const { body, text } = await world.check(
      PEOPLE.map((person) => `ext:${name(person)}`),
      [...FEATURES],
    )
    expect(body.data, text).toHaveLength(2)
    return body.data.map(({ features }) =>
      FEATURES.map((key) => [key, features[key]?.value, features[key]?.reason, features[key]?.valid_until]),
    )
  }

  await fc.assert(
    fc.asyncProperty(history, async (one) => {
      const [first, second] = one.orders
      const answers = await play(one, first, false)
      expect(await play(one, second, true)).toEqual(answers)
      expect(answers).toEqual(PEOPLE.map((person) => FEATURES.map((key) => told(one, person, key))))
    }),
    { numRuns: cases(50) },
  )
}, 240_000)

type Event = History['events'][number]

function eventOf({ sub, at, status, period, price, quantity, live }: Event, name: (text: string) => string) {
  const item = {
    ...{ id: 'si_1', quantity, price: { id: name(`price_${price}`), product: 'prod_1' } },
    ...{ current_period_start: day(period) / 1000, current_period_end: day(period + 30) / 1000 },
  }
  const object = { id: name(sub), object: 'subscription', customer: name('cus'), status, items: { data: [item] } }
  const type = status === 'canceled' ? 'deleted' : 'updated'
  return {
    ...{ id: name(`evt_${sub}_${at}`), object: 'event', type: `customer.subscription.${type}`, livemode: live },
    ...{ created: day(at) / 1000, data: { object } },
  }
}

function planOf({ flag, most, sum, conf, perSeat, rank }: Plan, own: string) {
  const features = {
    ...(flag && { flag: { value: true } }),
    ...(most !== null && { most: { value: most, per_seat: perSeat } }),
    ...(sum !== null && { sum: { value: sum } }),
    ...(conf !== null && { conf: { value: conf } }),
  }
  return { rank, features, prices: [{ vendor: 'stripe', ref: `price_${own}` }] }
}

function grantOf({ person, what, expires }: History['grants'][number], name: (text: string) => string) {
  const [effect, feature] = what.startsWith('deny ') ? ['deny', what.slice(5)] : ['allow', what]
  const value = effect === 'allow' && (what === 'most' || what === 'sum') ? { value: 3 } : {}
  return {
    consumer: `ext:${name(person)}`,
    ...(what === 'a' || what === 'b' ? { plan: what } : { feature, effect, ...value }),
    ...(expires !== null && { expires_at: new Date(day(expires)).toISOString() }),
  }
}

/** What a person would say about one feature: its value, why, and until when. */
function told({ events, plans, grants, owner, pin, asked }: History, person: string, key: (typeof FEATURES)[number]) {
  const now = day(asked)
  const own = grants.filter((one) => one.person === person)
  const live = (one: { expires: number | null }) => one.expires === null || asked < one.expires
  const nothing = key === 'flag' ? false : key === 'conf' ? null : 0
  if (own.some((one) => one.what === `deny ${key}` && live(one))) return [key, nothing, 'denied', null]

  type From = { by: 'plan' | 'grant'; value: unknown; until: number | null; why: string | null; order: string }
  const sources: From[] = []
  const give = (plan: Plan, seats: number) => {
    const amount = key === 'most' && plan.perSeat && plan.most !== 'unlimited' ? (plan.most ?? 0) * seats : plan[key]
    if (key === 'most' && plan.perSeat && plan.most === 'unlimited' && seats === 0) return 0
    return plan[key] === null || plan[key] === false ? undefined : amount
  }
  let anyAccess = false
  for (const sub of (pin ?? owner) === person ? ['s1', 's2'] : []) {
    const of = events.filter((one) => one.sub === sub).sort((a, b) => a.at - b.at)
    const last = of.findLast(({ status }) => status === 'canceled') ?? of.at(-1)
    if (!last) continue
    let until: number | null = null
    let why: string | null = null
    if (last.status === 'active' || last.status === 'trialing') {
      until = day(last.period + 30) + 48 * HOUR
      if (now >= until) why = 'expired'
    } else if (last.status === 'past_due') {
      const latest = Math.max(...of.filter(({ status }) => status === 'past_due').map(({ period }) => period))
      const first = of.find(({ status, period }) => status === 'past_due' && period === latest)
      until = (latest === last.period ? day(first?.at ?? 0) : day(last.period)) + 7 * DAY
      if (now >= until) why = 'past_due'
    } else why = { unpaid: 'past_due', canceled: 'expired', odd: 'unknown_status' }[last.status] ?? null
    if (!last.live && why !== 'past_due' && why !== 'expired') why = 'test_mode'
    if (why === null) anyAccess = true
    if (last.price === 'none') continue
    const plan = plans[last.price]
    const value = give(plan, last.quantity)
    if (value !== undefined) sources.push({ by: 'plan', value, until, why, order: `2 ${9 - plan.rank} ${last.price}` })
  }
  for (const one of own.filter(({ what }) => !what.startsWith('deny'))) {
    const plan = one.what === 'a' || one.what === 'b' ? plans[one.what] : null
    const value = plan ? give(plan, 1) : one.what === key ? (key === 'flag' ? true : 3) : undefined
    const until = one.expires === null ? null : day(one.expires)
    const order = plan ? `1 ${9 - plan.rank} ${one.what}` : '0'
    if (value !== undefined) sources.push({ by: 'grant', value, until, why: live(one) ? null : 'expired', order })
  }
  const giving = sources.filter(({ why }) => why === null)
  let counted = giving.filter(({ value }) => value !== 0)
  let value: unknown = key === 'flag' ? true : null
  if (key === 'most' && counted.length > 0) {
    const amount = (one: From) => (one.value === 'unlimited' ? 1e99 : (one.value as number))
    counted = counted.filter((one) => amount(one) === Math.max(...counted.map(amount)))
    value = counted[0]?.value
  }
  if (key === 'sum') value = counted.reduce((sum, one) => sum + (one.value as number), 0)
  if (key === 'conf' && counted.length > 0) {
    const [best = ''] = counted.map(({ order }) => order).sort()
    const same = counted.filter(({ order }) => order === best)
    const longest = same.find(({ until }) => until === null) ?? same.sort((a, b) => (b.until ?? 0) - (a.until ?? 0))[0]
    counted = longest ? [longest] : []
    value = longest?.value
  }
  if (counted.length > 0) {
    const ends = counted.map(({ until }) => until).filter((until) => until !== null)
    const until = ends.length === 0 ? null : new Date(Math.min(...ends)).toISOString()
    return [key, value, counted.some(({ by }) => by === 'plan') ? 'plan' : 'grant', until]
  }
  const why = ['past_due', 'expired', 'test_mode', 'unknown_status'].find((one) =>
    sources.some((source) => source.why === one && source.value !== 0),
  )
  return [key, nothing, why ?? (anyAccess || giving.length > 0 ? 'not_included' : 'no_subscription'), null]
}
