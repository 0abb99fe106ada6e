import { afterEach, expect, it } from 'vitest'
import { HOUR, SECOND } from '../../src/lib/time'
import { STEP } from '../../src/watch/limits'
import { advance, stopClock } from '../clock'
import { cases } from '../harness'
import { fail, rows } from '../inbox/pipeline'
import { type Difference, historyOf, same } from './history'
import { type Change, watchedD1, watchWorld } from './world'

/*
 * Random worlds: while the watcher works, it is killed at any trip, before it or after it, others take its work over, and whatever changes
 * entitlements changes them. Whoever applies what the feed tells has what a check says, and each change names what has made the difference.
 */

const WHOLE = { ...STEP }
afterEach(() => Object.assign(STEP, WHOLE))

/** Worlds side by side in one project: the setting up of one takes longer than its history. */
const SIDE_BY_SIDE = 20

it('the feed of entitlements is what a check says, with kills, twins and changes at every trip', async () => {
  const sum = { acts: 0, kills: 0, twins: 0, told: 0, late: 0 }
  const sizes = [200, 20, 7, 50]
  for (let n = 0; n < cases(10); n++) {
    const [seed, consumers] = [n + 1, sizes[n % sizes.length] ?? 7]
    Object.assign(STEP, { consumers, rows: consumers })
    const done = await played(seed)
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += done[key]
  }
  expect(sum.told).toBeGreaterThan(40 * cases(10))
  expect(sum.kills).toBeGreaterThan(4 * cases(10))
  // See `isConfirmed`.
  expect(sum.late).toBeLessThan(0.02 * sum.told)
})

async function played(seed: number) {
  stopClock()
  const world = await watchWorld()
  const history = await historyOf(world, seed, SIDE_BY_SIDE)
  const { random, int, act, differences } = history
  const sum = { acts: 0, kills: 0, twins: 0, told: 0, late: 0 }
  const does = async (n: number) => {
    for (let i = 0; i < n; i++) await act()
    sum.acts += n
  }
  let depth = 0
  /** Acts, and twins, that still come between the trips of a drain: with more of them it would not end. */
  let between = 0
  const killing = () => {
    let dead = false
    const DB = watchedD1(async (trip) => {
      if (depth <= 1) {
        depth++
        if (random() < 0.1 && between-- > 0) await does(1)
        if (random() < 0.08 && between-- > 0) await twin()
        depth--
      }
      if (dead || random() < 0.1) {
        sum.kills += dead ? 0 : 1
        dead = true
        return fail(trip, random() < 0.5 ? 'before' : 'after')
      }
      return trip.run()
    })
    return { DB, killed: () => dead && random() < 0.5 }
  }
  /** Another worker, who believes that the lease has run out. */
  async function twin() {
    sum.twins += 1
    await rows('UPDATE watchers SET lease_until = 0 WHERE project_id = ?', world.project)
    await world.watchers.EVENTS.send({ project_id: world.project })
    const { DB } = killing()
    await world.watchers.pump({ ...world.bindings, DB }, { batches: 1 })
  }
  async function drain() {
    between = 5
    for (let round = 0; round < 60; round++) {
      await withoutHousekeeping()
      await world.cron()
      const { DB, killed } = killing()
      await world.watchers.pump({ ...world.bindings, DB }, { batches: 3, killed })
      if (await isIdle(world.project)) return
      advance(61 * SECOND)
    }
    throw new Error('the watcher does not come to an end')
  }

  await does(10)
  await world.set({ watch_entitlements: true })
  await drain()
  const started = await world.heard()
  // The first walk tells nothing, whatever happens meanwhile.
  expect(started.map(({ type }) => type).lastIndexOf('entitlements.watching')).toBe(0)
  const fold = structuredClone(await history.now())
  for (let round = 0; round < 8; round++) {
    const from = differences.length
    await does(2 + int(6))
    await drain()
    const told = await world.heard()
    const since = differences.slice(from)
    for (const change of told) {
      for (const { key, before, after } of change.features ?? []) {
        sum.told += 1
        const own = fold[change.consumer_id ?? ''] ?? {}
        fold[change.consumer_id ?? ''] = own
        expect([seed, round, key, before ?? null]).toEqual([seed, round, key, own[key] ?? null])
        expect(same(before, after)).toBe(false)
        own[key] = after
        sum.late += isConfirmed(change, key, after, since) ? 0 : 1
      }
    }
    const now = await history.now()
    for (const [id, features] of Object.entries(now)) {
      const known = Object.fromEntries(Object.entries(fold[id] ?? {}).filter(([, value]) => value !== null))
      expect([seed, round, id, known]).toEqual([seed, round, id, features])
    }
  }
  await world.set({ watch_entitlements: false })
  return sum
}

/**
 * Whether a change names what has made the difference: the act after which a check said the same first. One class has no such cause: time
 * that a change has brought, and that is over and was changed again before the watcher has read the first change. Only the changes are
 * named then.
 */
function isConfirmed({ consumer_id, causes = [] }: Change, key: string, after: unknown, since: Difference[]): boolean {
  const numbers = causes.map(({ change }) => Number(change?.split('_').at(-1)))
  const isTime = causes.some(({ type }) => type === 'time')
  const right = since.filter((one) => one.id === consumer_id && one.key === key && same(one.after, after))
  if (right.length === 0) return isTime // the clock goes on a little while the watcher works
  return right.some(({ time, from, to }) => (time ? isTime : numbers.some((n) => n > from && n <= to)))
}

async function isIdle(project: string): Promise<boolean> {
  const [row] = await rows<{ busy: number }>(
    `SELECT lease_until > ?2 OR json_array_length(walk, '$.causes') > 0 OR position < (SELECT max(seq) FROM changes WHERE project_id = ?1)
      OR EXISTS (SELECT 1 FROM entitlement_states s WHERE s.project_id = ?1 AND s.due_at <= ?2) AS busy
      FROM watchers WHERE project_id = ?1`,
    project,
    Date.now(),
  )
  return row?.busy === 0
}

/** The cron's hourly passes have tests of their own, and the clock here goes by days. */
async function withoutHousekeeping() {
  await rows("UPDATE progress SET after = '', hour = ?", Math.floor(Date.now() / HOUR))
}
