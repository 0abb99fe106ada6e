import { beforeEach, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { STORE } from '../harness'
import { line, type WatchWorld, watchedD1, watchWorld } from './world'

beforeEach(() => {
  stopClock()
})

/** Lets the watcher do what it has messages for, and counts what it asks of D1. */
async function costOf(world: WatchWorld) {
  const cost = { trips: 0, statements: 0, rows_read: 0, rows_written: 0 }
  const DB = watchedD1(async ({ statements, run }) => {
    const results = await run()
    cost.trips += 1
    cost.statements += statements
    for (const { meta } of results) {
      cost.rows_read += meta.rows_read
      cost.rows_written += meta.rows_written
    }
    return results
  })
  await world.timed()
  await world.pump({ DB })
  return cost
}

/** A project with so many consumers, each with a plan by a grant that ends in a day. */
async function granted(n: number) {
  const world = await watchWorld()
  const all = { sso: { value: true }, seats: { value: 1 }, credits: { value: 1 }, limits: { value: { rows: 1 } } }
  await world.sell(all, {}, {})
  const insert = (sql: string) =>
    STORE.prepare(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) ${sql}`)
  const end = Date.now() + DAY
  await STORE.batch([
    insert(`INSERT INTO consumers (project_id, id, metadata, state, revision, created_at, updated_at)
      SELECT ?1, printf('csm_%026d', i), '{}', 'active', 1, 1, 1 FROM n`).bind(world.project, n),
    insert(`INSERT INTO grants (project_id, consumer_id, id, plan_id, effect, expires_at, actor)
      SELECT ?1, printf('csm_%026d', i), printf('grt_%026d', i), ?3, 'allow', ?4, 'x' FROM n`).bind(
      world.project,
      n,
      world.plans[0] as string,
      end,
    ),
  ])
  await world.set({ watch_entitlements: true })
  return world
}

it('one change of one consumer takes three round trips, apart from the call that made it', async () => {
  const world = await granted(1)
  await world.told()
  await world.must('POST', `consumers/${(await world.states())[0]?.consumer_id}/block`, {})
  const one = await costOf(world)
  expect(one).toMatchObject({ trips: 3, statements: 20, rows_written: 4 })
  expect(one.rows_read).toBeLessThan(70)
  expect((await world.told()).map(line)).toHaveLength(1)
  // What concerns nobody moves the position alone.
  await world.must('PATCH', `billing/plans/${world.plans[0]}`, { name: 'B' })
  expect(await costOf(world)).toMatchObject({ trips: 2, rows_written: 2 })
})

it('a walk, and the end of a month, take three trips for two hundred consumers, and one or two rows written for each', async () => {
  const world = await granted(1000)
  await world.told()
  // It rests after each of these.
  advance(MINUTE)
  await world.must('PATCH', `billing/plans/${world.plans[0]}`, { features: { sso: { value: true } } })
  const walk = await costOf(world)
  expect((await world.told()).filter(({ type }) => type === 'entitlements.changed')).toHaveLength(1000)
  advance(DAY)
  await world.cron()
  const ends = await costOf(world)
  expect(ends).toMatchObject({ trips: 15, statements: 96, rows_written: 1011 })
  expect(walk).toMatchObject({ trips: 17, statements: 105, rows_written: 2012 })
  expect(Math.max(walk.rows_read, ends.rows_read)).toBeLessThan(25_000)
  expect((await world.told()).map(line)).toEqual(Array(1000).fill('sso true → null by time'))
  advance(MINUTE)
})
