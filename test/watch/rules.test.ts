import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_SOURCES } from '../../src/entitlements/limits'
import { KEPT_DAYS } from '../../src/feed/limits'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { STORE } from '../harness'
import { keepHouse, rows } from '../inbox/pipeline'
import { line, subscription, watchedD1, watchWorld } from './world'

beforeEach(() => {
  stopClock()
})

/** A project with so many consumers, each of which has a seat by a grant. The watcher is off. */
async function granted(n: number) {
  const world = await watchWorld()
  await world.sell({ sso: { value: true } })
  const give = (of: string, more: object = {}) =>
    world.must('POST', 'billing/grants', {
      consumer: `ext:${of}`,
      feature: 'seats',
      effect: 'allow',
      value: 1,
      ...more,
    })
  const ids: string[] = []
  for (let i = 0; i < n; i++) {
    ids.push((await world.must('PUT', `consumers/ext:u${i}`, {})).id)
    await give(`u${i}`)
  }
  const watch = async () => {
    await world.set({ watch_entitlements: true })
    expect((await world.told()).map(line)).toEqual(['entitlements.watching'])
  }
  return {
    ...world,
    ids,
    give,
    watch,
    lines: async () => (await world.told()).map(line),
    features: async () => (await world.states()).map(({ features }) => features),
    /** Marks the project as deleted, or takes the mark away. */
    mark: (at: number | null) =>
      STORE.prepare('UPDATE projects SET deleted_at = ?1, purge_at = ?1 WHERE id = ?2').bind(at, world.project).run(),
  }
}

describe('the watcher', () => {
  it('that is off keeps nothing and tells nothing', async () => {
    const { give, lines, states, project } = await granted(1)
    await give('u0', { value: 5 })
    expect(await lines()).toEqual([])
    expect(await states()).toEqual([])
    expect(await rows('SELECT * FROM watchers WHERE project_id = ?', project)).toEqual([])
  })

  it('that is switched off forgets what it knew, and begins anew when it is switched on', async () => {
    const { set, give, lines, features, watch } = await granted(3)
    await watch()
    expect(await features()).toHaveLength(3)
    await set({ watch_entitlements: false })
    await give('u0', { value: 5 })
    expect(await lines()).toEqual([])
    expect(await features()).toEqual([])
    await watch()
    await set({ watch_entitlements: true })
    expect(await lines()).toEqual([])
    expect((await features()).sort()).toEqual(['{"seats":1}', '{"seats":1}', '{"seats":5}'])
  })

  it('of a deleted project rests, and goes on when the project is restored', async () => {
    const { give, watch, features, mark, cron, pump, watchers, timed, project, lines } = await granted(1)
    await watch()
    await give('u0', { value: 5 })
    await mark(Date.now() + DAY)
    await timed()
    await cron()
    await watchers.EVENTS.send({ project_id: project })
    await pump()
    expect(await features()).toEqual(['{"seats":1}'])
    await mark(null)
    advance(MINUTE)
    expect(await lines()).toEqual(['seats 1 → 5 by grant.created'])
  })

  it('is woken by calls and events, without the cron', async () => {
    const { must, watch, give, happens, pump, heard, timed } = await granted(1)
    await must('PUT', 'billing/customers/stripe/cus_1', { consumer: 'ext:u0' })
    await watch()
    const hears = async () => {
      await timed()
      await pump()
      return (await heard()).map(line)
    }
    await give('u0', { value: 5 })
    expect(await hears()).toEqual(['seats 1 → 5 by grant.created'])
    const made = subscription('sub_1', 'cus_1', { price_0: 1 }, Date.now() + DAY)
    await happens('customer.subscription.created', made)
    expect(await hears()).toEqual(['sso null → true by subscription.changed'])
  })

  it('whose messages are lost is found by the cron; if nothing runs it, health says so', async () => {
    const { watch, give, must, timed, watchers, lines } = await granted(1)
    await watch()
    await give('u0', { value: 5 })
    watchers.lose()
    expect(await lines()).toEqual([])
    const late = async () =>
      String((await must('GET', 'billing/webhooks/health')).reasons).includes('entitlement changes are late')
    await timed()
    expect(await late()).toBe(false)
    advance(16 * MINUTE)
    expect(await late()).toBe(true)
    expect(await lines()).toEqual(['seats 1 → 5 by grant.created'])
    expect(await late()).toBe(false)
  })

  it('tells what time alone has changed within two minutes, and never before', async () => {
    const { watch, give, cron, pump, heard, timed } = await granted(1)
    await watch()
    const ends = Date.now() + 5 * MINUTE + 31 * SECOND
    await give('u0', { value: 5, expires_at: new Date(ends).toISOString() })
    const seen: [number, string][] = []
    for (let second = 0; second < 12 * 60; second += 20) {
      await timed()
      if (second % 60 === 0) await cron()
      await pump()
      seen.push(...(await heard()).map((one): [number, string] => [Date.now() - ends, line(one)]))
      advance(20 * SECOND)
    }
    expect(seen.map(([, said]) => said)).toEqual(['seats 1 → 5 by grant.created', 'seats 5 → 1 by time'])
    expect(seen[1]?.[0]).toBeGreaterThanOrEqual(0)
    expect(seen[1]?.[0]).toBeLessThanOrEqual(2 * MINUTE)
  })

  it('that lost changes before it read them looks at everybody, and tells what differs from what it told', async () => {
    const { watch, give, must, watchers, skip, lines, ids } = await granted(4)
    await watch()
    await give('u0', { value: 5 })
    await must('PUT', 'consumers/ext:new', {})
    await give('new', { value: 7 })
    await must('POST', 'consumers/ext:u1/merge', { into: 'ext:u2' })
    await must('DELETE', 'consumers/ext:u3')
    watchers.lose()
    advance((KEPT_DAYS + 1) * DAY)
    await keepHouse({ WATCHERS: watchers.EVENTS })
    watchers.lose()
    advance(MINUTE)
    await skip()
    const said = await lines()
    expect(said.sort()).toEqual(
      ['seats 1 → 5 by gap', 'seats 1 → null by gap', 'seats 1 → null by gap', 'seats null → 7 by gap'].sort(),
    )
    expect(ids).toHaveLength(4)
  })

  it('of a restored database begins anew in the same way', async () => {
    const { watch, give, lines, watchers } = await granted(1)
    await watch()
    await give('u0', { value: 5 })
    watchers.lose()
    const [{ epoch }] = (await rows<{ epoch: string }>('SELECT epoch FROM changes_epoch')) as [{ epoch: string }]
    await STORE.prepare("UPDATE changes_epoch SET epoch = '00000001'").run()
    advance(MINUTE)
    expect(await lines().catch((error) => String(error))).toContain('cursor_expired')
    await STORE.prepare('UPDATE changes_epoch SET epoch = ?').bind(epoch).run()
    advance(MINUTE)
    expect(await lines()).toEqual(['seats 1 → 5 by gap'])
  })
})

describe('between its trips', () => {
  const [FACTS, WRITE] = [1, 2]

  /** Does something before the trip with this number of the next run. */
  async function interrupted(world: Awaited<ReturnType<typeof granted>>, at: number, work: () => Promise<unknown>) {
    let done = false
    const DB = watchedD1(async (trip) => {
      if (trip.index === at && !done) {
        done = true
        await work()
      }
      return trip.run()
    })
    await world.timed()
    await world.pump({ DB })
    expect(done).toBe(true)
  }

  it('a change that is newer than what was read, and counts already, is named too', async () => {
    const world = await granted(1)
    await world.watch()
    await world.give('u0', { value: 5 })
    await interrupted(world, FACTS, () => world.give('u0', { value: 7 }))
    expect(await world.lines()).toEqual(['seats 1 → 7 by grant.created, grant.created'])
  })

  it('another worker may take over: the first one then writes nothing', async () => {
    const world = await granted(1)
    await world.watch()
    await world.give('u0', { value: 5 })
    await interrupted(world, WRITE, async () => {
      await world.give('u0', { value: 7 })
      await rows('UPDATE watchers SET lease_until = 0 WHERE project_id = ?', world.project)
      await world.watchers.EVENTS.send({ project_id: world.project })
      await world.pump()
    })
    advance(2 * MINUTE)
    expect(await world.lines()).toEqual(['seats 1 → 7 by grant.created, grant.created'])
    expect(await world.features()).toEqual(['{"seats":7}'])
  })

  it('it may be switched off: then it writes nothing', async () => {
    const world = await granted(1)
    await world.watch()
    await world.give('u0', { value: 5 })
    await interrupted(world, WRITE, () => world.set({ watch_entitlements: false }))
    advance(2 * MINUTE)
    expect(await world.lines()).toEqual([])
    expect(await world.features()).toEqual([])
  })

  it('time that a change has brought, and that was over before it was read, is named', async () => {
    const world = await granted(1)
    await world.watch()
    await world.give('u0', { value: 5, starts_at: new Date(Date.now() + HOUR).toISOString() })
    await world.timed()
    advance(2 * HOUR)
    expect(await world.lines()).toEqual(['seats 1 → 5 by grant.created, time'])
  })
})

describe('consumers who have too much', () => {
  /** Gives a consumer many grants at once. */
  const pile = (project: string, consumer: string, n: number) =>
    STORE.prepare(
      `INSERT INTO grants (project_id, consumer_id, id, feature, effect, value, actor)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?3)
        SELECT ?1, ?2, 'grt_' || ?2 || i, 'credits', 'allow', '1', 'x' FROM n`,
    )
      .bind(project, consumer, n)
      .run()
  const unpile = (consumer: string) =>
    STORE.prepare("DELETE FROM grants WHERE consumer_id = ? AND feature = 'credits'").bind(consumer).run()

  it('together are looked at in parts', async () => {
    const { watch, give, project, ids, lines } = await granted(4)
    await watch()
    for (const i of ids.keys()) await give(`u${i}`, { value: 5 })
    for (const id of ids) await pile(project, id, MAX_SOURCES / 2 - 10)
    expect(await lines()).toEqual(ids.map(() => `credits null → ${MAX_SOURCES / 2 - 10}, seats 1 → 5 by grant.created`))
  })

  it('alone are left out, which health says, and others are told of; later they are tried again', async () => {
    const { watch, give, must, project, ids, lines, states } = await granted(3)
    await watch()
    for (const i of ids.keys()) await give(`u${i}`, { value: 5 })
    await pile(project, ids[1] as string, MAX_SOURCES + 1)
    expect(await lines()).toEqual(['seats 1 → 5 by grant.created', 'seats 1 → 5 by grant.created'])
    const skipped = (await states()).filter(({ skipped_at }) => skipped_at !== null)
    expect(skipped.map(({ consumer_id }) => consumer_id)).toEqual([ids[1]])
    const { status, reasons } = await must('GET', 'billing/webhooks/health')
    expect([status, String(reasons)]).toEqual(['degraded', expect.stringContaining('the entitlements of 1 consumer,')])
    await unpile(ids[1] as string)
    advance(HOUR)
    expect(await lines()).toEqual(['seats 1 → 5 by time'])
    expect((await states()).map(({ skipped_at }) => skipped_at)).toEqual([null, null, null])
  })
})
