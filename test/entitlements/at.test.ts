import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, iso, SECOND } from '../../src/lib/time'
import { stripeEventOf, stripeItem, stripeSubscription } from '../billing/payloads'
import { advance, setClock, stopClock } from '../clock'
import { ofCustomer } from '../consumers/events'
import { call, cases, countingD1, STORE } from '../harness'
import { type EntitlementWorld, entitlementWorld, sellPlans } from './world'

const FEATURES = ['sso', 'seats', 'projects', 'limits']
const START = 1_780_000_000_000
const price = (ref: string) => [{ vendor: 'stripe', ref }]

const MANY_MOVES = `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000)
  INSERT INTO customer_moves (project_id, ref, moved_at, customer, vendor)
  SELECT ?1, 'ada', ${START} + v, 'cus_' || v, 'stripe' FROM n`

/** The time by the database, which dates the moves of customers. No test can set it. */
async function storeClock(): Promise<number> {
  const row = await STORE.prepare("SELECT unixepoch('subsec') * 1000 AS now").first<{ now: number }>()
  return Math.floor(row?.now ?? 0)
}

let world: EntitlementWorld
const plans: Record<string, string> = {}
beforeEach(async () => {
  stopClock(START)
  world = await entitlementWorld()
  await sellPlans(world)
  for (const { key, id } of (await world.catalog.plans()).body.data) plans[key] = id
  await world.consumers.put('ada')
})

type Sent = { sub?: string; at?: number; status?: string; price?: string; quantity?: number; fields?: object }

/** An event about a subscription of ada's. `at`: the vendor's time, in days. */
function event({ sub = 's1', at = 0, status = 'active', price = 'pro', quantity = 2, fields = {} }: Sent, own = '') {
  const period = { current_period_start: START / 1000, current_period_end: (START + 30 * DAY) / 1000 }
  const item = stripeItem({ price: { id: `price_${price}`, product: 'prod_x' }, quantity, ...period })
  const made = stripeSubscription({
    ...{ id: `${sub}${own}`, customer: `cus${own}`, status, metadata: { consumer_external_id: `ada${own}` } },
    items: { object: 'list', data: [item], has_more: false },
    ...fields,
  })
  const type = status === 'canceled' ? 'deleted' : 'updated'
  return { ...stripeEventOf(`customer.subscription.${type}`, made, { at: (START + at * DAY) / 1000 }), livemode: true }
}

const at = (time: number, consumer = 'ext:ada') => world.one(consumer, `?at=${iso(time)}`)

/** Each a step of a history, an hour after the one before. */
const step = fc.oneof(
  fc.record({
    do: fc.constant('event' as const),
    sub: fc.constantFrom('s1', 's2'),
    at: fc.integer({ min: 0, max: 9 }),
    status: fc.constantFrom('active', 'active', 'trialing', 'past_due', 'past_due', 'unpaid', 'canceled'),
    price: fc.constantFrom('pro', 'starter', 'none'),
    quantity: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({
    do: fc.constant('grant' as const),
    what: fc.constantFrom({ feature: 'seats', value: 7 }, { plan: 'pro' }, { feature: 'sso', effect: 'deny' }),
    hours: fc.option(fc.integer({ min: 1, max: 4 })),
  }),
  fc.record({ do: fc.constant('revoke' as const) }),
  fc.record({
    do: fc.constant('plan' as const),
    plan: fc.constantFrom('pro', 'starter'),
    change: fc.constantFrom<object>(
      { prices: [] },
      { prices: price('price_none') },
      { features: { seats: { value: 5 } } },
      { features: { sso: { value: true }, limits: { value: { rows: 7 } } }, rank: 20 },
    ),
  }),
)

describe('the answer of a time', () => {
  it('is what was answered then', async () => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
        runs += 1
        const own = `_${runs}`
        const begin = START + runs * DAY
        setClock(begin)
        await world.consumers.put(`ada${own}`)
        await world.catalog.change(plans.starter ?? '', { prices: price('price_starter') })
        await world.catalog.change(plans.pro ?? '', { prices: price('price_pro') })
        // What events of the customer say outranks what its subscriptions say.
        await world.deliver(ofCustomer(`cus${own}`, `ada${own}`))
        const grants: string[] = []
        const told: [number, unknown][] = []
        for (const [n, one] of steps.entries()) {
          const now = begin + (n + 1) * HOUR
          setClock(now)
          if (one.do === 'event') await world.deliver(event(one, own))
          if (one.do === 'plan') await world.catalog.change(plans[one.plan] ?? '', one.change)
          if (one.do === 'revoke') await world.revoke(grants.pop() ?? 'grt_none')
          if (one.do === 'grant') {
            const expires = one.hours === null ? {} : { expires_at: iso(now + one.hours * HOUR) }
            grants.push((await world.grant({ consumer: `ext:ada${own}`, ...one.what, ...expires })).body.id)
          }
          told.push([now, (await world.one(`ext:ada${own}`)).features])
        }
        setClock(begin + 20 * HOUR)
        for (const [time, features] of told) {
          expect(await at(time, `ext:ada${own}`)).toMatchObject({
            as_of: iso(time),
            features,
            exact: true,
            missing: [],
          })
        }
      }),
      { numRuns: cases(15) },
    )
  }, 60_000)

  /** The period that an event of {@link event} has, from and to a day, and its items with it. */
  const period = (from: number, to: number) => ({
    items: {
      object: 'list',
      data: [
        stripeItem({
          ...{ price: { id: 'price_pro', product: 'prod_x' }, quantity: 2 },
          ...{ current_period_start: (START + from * DAY) / 1000, current_period_end: (START + to * DAY) / 1000 },
        }),
      ],
      has_more: false,
    },
  })

  it('counts the grace from the first event of the period that says past due, not of the one before', async () => {
    const told: [number, unknown][] = []
    const tell = async (at: number, from: number, status: string) => {
      setClock(START + at * DAY)
      await world.deliver(event({ at, status, fields: period(from, from + 30) }))
      told.push([START + at * DAY, (await world.one('ext:ada')).features])
    }
    await tell(0, 0, 'active')
    // The vendor renews late: this is about the first period, although the second one has begun.
    await tell(31, 0, 'past_due')
    await tell(33, 30, 'past_due')
    await tell(34, 30, 'past_due')
    setClock(START + 35 * DAY)
    for (const [time, features] of told) {
      expect(await at(time)).toMatchObject({ features, exact: true, missing: [] })
    }
    expect((await at(START + 34 * DAY)).features.sso?.valid_until).toBe(iso(START + 40 * DAY))
  })

  it('says that it is not known since when, if an event may be of either period', async () => {
    const tell = async (processed: number, at: number, from: number, status: string) => {
      setClock(START + processed * DAY)
      await world.deliver(event({ at, status, fields: period(from, from + 30) }))
    }
    await tell(1, 0, 0, 'active')
    await tell(33, 33, 30, 'past_due')
    // It arrives late, and decides nothing.
    await tell(34, 31, 30, 'past_due')
    await tell(35, 30.5, 30, 'past_due')
    setClock(START + 36 * DAY)
    expect(await at(START + 35 * DAY)).toMatchObject({ exact: true, missing: [] })
    expect(await at(START + 33 * DAY)).toMatchObject({ exact: true, missing: [] })
    expect(await at(START + 34 * DAY)).toMatchObject({
      exact: false,
      missing: ['We do not know when s1 became past due.'],
    })
  })

  it('is of the revision of then, however often a plan has changed since', async () => {
    await world.grant({ consumer: 'ext:ada', plan: 'pro' })
    const asked: number[] = []
    for (const rows of [1, 2, 3, 4]) {
      advance(HOUR)
      await world.catalog.change(plans.pro ?? '', { features: { limits: { value: { rows } } } })
      advance(HOUR)
      asked.push(Date.now())
    }
    const values = await Promise.all(asked.map(async (time) => (await at(time)).features.limits?.value))
    expect(values).toEqual([1, 2, 3, 4].map((rows) => ({ rows })))
  })

  it('knows that the consumer, a feature, a plan or a link was not there yet', async () => {
    advance(HOUR)
    await world.catalog.feature('later')
    await world.deliver(event({}))
    const { features, exact } = await at(START)
    expect([Object.keys(features), exact]).toEqual([FEATURES.toSorted(), true])
    expect(features.sso).toMatchObject({ allowed: false, reason: 'no_subscription' })
    expect((await at(START - 1)).features).toEqual({})
    advance(HOUR)
    await world.consumers.put('grace')
    expect((await at(START + HOUR, 'ext:grace')).features.sso).toMatchObject({ reason: 'unknown_consumer' })
    // Grace is linked by the second event of a customer that was nobody's.
    await world.deliver(event({ sub: 's9', fields: { customer: 'cus_9', metadata: {} } }))
    advance(HOUR)
    await world.deliver(ofCustomer('cus_9', 'grace'))
    expect((await world.one('ext:grace')).features.sso?.allowed).toBe(true)
    const before = await at(START + 2 * HOUR, 'ext:grace')
    expect([before.features.sso?.reason, before.exact]).toEqual(['no_subscription', true])
  })

  it('says what is not known', async () => {
    const [first] = await world.deliver(event({}))
    const time = START + HOUR
    setClock(time)
    expect((await at(time)).exact).toBe(true)
    const wrong = async (change: () => Promise<unknown>, words: RegExp) => {
      advance(SECOND)
      await change()
      advance(SECOND)
      const { exact, missing = [] } = await at(time)
      expect([exact, missing.filter((one) => words.test(one)).length], missing.join()).toEqual([false, 1])
    }
    await wrong(() => world.settings({ grace_days: 1 }), /setting grace_days has since been changed/)
    await wrong(
      () => world.catalog.feature('seats', { name: 'Seats', type: 'quantity', combine: 'sum' }),
      /seats are combined/,
    )
    await wrong(() => world.consumers.block('ext:ada'), /has since been blocked/)
    await wrong(() => world.consumers.pin('cus', 'ext:ada'), /The customer cus has since been pinned/)
    await wrong(async () => {
      const { body } = await world.consumers.put('other')
      await world.consumers.merge(body.id, 'ext:ada')
    }, /has since been merged into the consumer/)
    await wrong(async () => {
      await world.catalog.feature('gone')
      await world.catalog.dropFeature('gone')
    }, /The feature gone has since been deleted/)
    await wrong(async () => {
      await world.replay(first ?? '')
      await world.queue.pump()
    }, /has since been processed again/)
    await wrong(
      () => world.consumers.patch('ext:ada', { external_id: 'ada-2' }),
      /The external id ada-2 has since been added/,
    )
    await STORE.prepare('UPDATE plans SET updated_at = ?2, revision = 300 WHERE project_id = ?1')
      .bind(world.project, time + HOUR)
      .run()
    await STORE.prepare(
      `INSERT INTO plan_revisions (project_id, plan_id, revision, document, until)
        SELECT project_id, id, 299, '{"key":"x","rank":1,"features":{},"prices":[]}', ?2 FROM plans WHERE project_id = ?1 AND key = 'pro'`,
    )
      .bind(world.project, time + HOUR)
      .run()
    await wrong(
      async () => undefined,
      /The plan pro has since changed, and its revision from that time is no longer stored/,
    )
    // An event that is gone leaves a hole in the chain.
    await world.deliver(event({ at: 1, status: 'past_due' }))
    const [id] = await world.deliver(event({ at: 2, status: 'active' }))
    await STORE.prepare('DELETE FROM events WHERE project_id = ? AND id = ?').bind(world.project, id).run()
    await wrong(async () => undefined, /has since changed in a way/)
  })

  it('has nothing of a subscription that was another customer’s then, and says so', async () => {
    await world.consumers.put('eve')
    const hers = { customer: 'cus_eve', metadata: { consumer_external_id: 'eve' } }
    await world.deliver(event({}), event({ sub: 's2', status: 'canceled', fields: hers }))
    advance(HOUR)
    const then = Date.now()
    advance(HOUR)
    expect((await at(then)).features.projects).toMatchObject({ allowed: true })
    await world.deliver(event({ at: 1, fields: hers }))
    expect((await world.one('ext:eve')).features.projects).toMatchObject({ allowed: true })
    const { features, missing } = await at(then, 'ext:eve')
    expect(features.projects).toMatchObject({ allowed: false })
    expect(missing).toContain("The subscription s1 was another customer's.")
  })

  it('says which customers have been linked to another consumer since', async () => {
    const now = await storeClock()
    const linked = now - 2 * HOUR
    const before = [linked - HOUR, linked - 1]
    const during = [linked, now - HOUR]
    const after = now + HOUR
    setClock(now - DAY)
    for (const name of ['lin', 'mia']) await world.consumers.put(name)
    setClock(linked)
    await world.deliver(event({ fields: { customer: 'cus_m', metadata: { consumer_external_id: 'lin' } } }))
    setClock(now)
    await world.deliver(ofCustomer('cus_m', 'mia'))
    setClock(after)
    const missing = async (time: number) => (await at(time, 'ext:lin')).missing
    for (const time of [...before, after]) expect(await missing(time), iso(time)).toEqual([])
    const words = /^The customer cus_m belonged to the consumer until (\S+Z)\.$/
    for (const time of during) {
      const { exact, missing = [] } = await at(time, 'ext:lin')
      expect([exact, missing.length]).toEqual([false, 1])
      const [, until = ''] = words.exec(missing[0] ?? '') ?? []
      expect(Math.abs(Date.parse(until) - now)).toBeLessThan(HOUR)
    }
    // Back with the consumer, which is then not certain for another reason.
    await world.deliver(ofCustomer('cus_m', 'lin', 1))
    for (const time of during)
      expect(await missing(time)).toEqual([expect.stringMatching(/^An event has since linked/)])
    expect(await missing(before[0] as number)).toEqual([])
  })

  it('is not certain only for the consumers whom a pin gives a customer, or takes one from', async () => {
    for (const name of ['ben', 'cleo']) await world.consumers.put(name)
    await world.deliver(event({}))
    const time = START + HOUR
    setClock(time + HOUR)
    const told = async () => {
      const all = ['ada', 'ben', 'cleo'].map(async (name) => (await at(time, `ext:${name}`)).missing?.join() ?? '')
      return (await Promise.all(all)).map((text) => (text === '' ? 'exact' : text.replace(/until .*/, 'until')))
    }
    const until = 'The customer cus belonged to the consumer until'
    expect(await told()).toEqual(['exact', 'exact', 'exact'])
    await world.consumers.pin('cus', 'ext:ben')
    expect(await told()).toEqual([until, 'The customer cus has since been pinned or unpinned.', 'exact'])
    await world.consumers.pin('cus', null)
    expect(await told()).toEqual([until, until, 'exact'])
    await world.consumers.unpin('cus')
    expect(await told()).toEqual(['The customer cus has since been pinned or unpinned.', until, 'exact'])
    // Pinned before any event named it, and no more.
    await world.consumers.pin('cus_new', 'ext:cleo')
    await world.consumers.unpin('cus_new')
    expect((await told())[2]).toBe('exact')
    // Of pins before the history began, it is not known whom they took a customer from.
    const since = STORE.prepare("INSERT INTO state VALUES ('pins_known_from', ?)").bind(time + 2 * HOUR)
    await since.run()
    expect((await told())[2]).toBe('The customer cus has since been pinned or unpinned.')
    await STORE.prepare("DELETE FROM state WHERE name = 'pins_known_from'").run()
  })

  it('says that not all events of a customer were looked at', async () => {
    await world.consumers.put('grace')
    advance(HOUR)
    await world.deliver(ofCustomer('cus_9', 'grace'))
    advance(HOUR)
    expect((await at(START, 'ext:grace')).missing).toEqual([])
    await STORE.prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000)
        INSERT INTO refs (project_id, ref, event_id) SELECT ?1, 'cus_9', 'evt_0' || v FROM n`,
    )
      .bind(world.project)
      .run()
    const { exact, missing } = await at(START, 'ext:grace')
    expect([exact, missing]).toEqual([
      false,
      [expect.stringMatching(/^An event has since linked the customer cus_9, and only its first 5000 events were/)],
    ])
  })

  it('says that too many customers have been linked to other consumers since', async () => {
    await STORE.prepare(MANY_MOVES).bind(world.project).run()
    const { exact, missing } = await at(START)
    expect([exact, missing]).toEqual([false, ['More than 100 customers have since been linked to other consumers.']])
  })

  it('can be asked for up to 400 days back or ahead', async () => {
    const status = async (time: number | string) =>
      (await world.ask('GET', `/consumers/ext:ada/entitlements?at=${typeof time === 'string' ? time : iso(time)}`))
        .status
    expect(await status(START)).toBe(200)
    expect(await status(START + 400 * DAY)).toBe(200)
    expect(await status(START + 400 * DAY + 1)).toBe(422)
    expect(await status(START - 400 * DAY)).toBe(200)
    expect(await status(START - 400 * DAY - 1)).toBe(422)
    expect(await status('yesterday')).toBe(422)
  })

  it.each([{ AUDIT_RETENTION_DAYS: '30' }, { RECORD_RETENTION_DAYS: '30' }])(
    'says what is no longer kept: %o',
    async (bindings) => {
      const ask = async (days: number) => {
        const path = `/platform/v1/consumers/ext:ada/entitlements?at=${iso(START - days * DAY)}`
        const { project, token } = world
        return (await call(path, { project, token, bindings })).body
      }
      expect(await ask(30)).toMatchObject({ exact: true })
      expect(await ask(31)).toMatchObject({
        exact: false,
        missing: ['Some records from that time are archived, or no longer stored.'],
      })
    },
  )

  it('takes two trips, and writes nothing', async () => {
    await world.deliver(event({}))
    const { DB, count } = countingD1()
    const path = `/consumers/ext:ada/entitlements?at=${iso(START)}`
    expect((await world.ask('GET', path, { bindings: { DB } })).status).toBe(200)
    expect(count).toMatchObject({ trips: 2, rows_written: 0 })
    expect(count.rows_read).toBeLessThan(80)
    const once = count.rows_read
    await STORE.prepare(MANY_MOVES).bind(world.project).run()
    expect((await world.ask('GET', path, { bindings: { DB } })).status).toBe(200)
    expect(count.rows_read - 2 * once).toBeLessThan(350)
  })
})
