import { beforeEach, expect, it } from 'vitest'
import { FREE_WRITTEN, LEASE_MS } from '../../src/watch/limits'
import { restAfter } from '../../src/watch/write'
import { advance, stopClock } from '../clock'
import { STORE } from '../harness'
import { rows } from '../inbox/pipeline'
import { watchWorld } from './world'

beforeEach(() => {
  stopClock()
})

const N = 300

/** A project with {@link N} consumers, each with a plan whose config takes 2 KB, and a call that changes the config. */
async function heavy() {
  const world = await watchWorld()
  await world.sell({ limits: { value: 'a'.repeat(2000) } })
  const insert = (sql: string) =>
    STORE.prepare(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${N}) ${sql}`)
  await STORE.batch([
    insert(`INSERT INTO consumers (project_id, id, metadata, state, revision, created_at, updated_at)
      SELECT ?1, printf('csm_%026d', i), '{}', 'active', 1, 1, 1 FROM n`).bind(world.project),
    insert(`INSERT INTO grants (project_id, consumer_id, id, plan_id, effect, actor)
      SELECT ?1, printf('csm_%026d', i), printf('grt_%026d', i), ?2, 'allow', 'x' FROM n`).bind(
      world.project,
      world.plans[0] as string,
    ),
  ])
  await world.set({ watch_entitlements: true })
  await world.told()
  /** Bytes of what the feed was told of entitlements, and of the states. */
  const bytes = async () => {
    const [of] = await rows<{ changes: number; states: number }>(
      `SELECT (SELECT coalesce(sum(octet_length(items)), 0) FROM changes WHERE project_id = ?1 AND items LIKE '%entitlements.changed%') AS changes,
        (SELECT coalesce(sum(octet_length(features)), 0) FROM entitlement_states WHERE project_id = ?1) AS states`,
      world.project,
    )
    return of ?? { changes: 0, states: 0 }
  }
  const change = async (letter: string) => {
    await world.must('PATCH', `billing/plans/${world.plans[0]}`, {
      features: { limits: { value: letter.repeat(2000) } },
    })
    await world.cron()
    await world.pump()
  }
  return { ...world, bytes, change }
}

it('a loop of calls that make a difference for everybody does not write more than a watcher may; the last state is told', async () => {
  const world = await heavy()
  expect((await world.bytes()).states).toBeGreaterThan(N * 2000)
  for (const letter of 'bcdef') await world.change(letter)
  expect((await world.bytes()).changes).toBe(0)
  advance(LEASE_MS)
  await world.cron()
  for (const letter of 'ghijk') await world.change(letter)
  // Each consumer once, with the value before and after.
  expect((await world.bytes()).changes).toBeLessThan(N * 5000)
  advance(10 * LEASE_MS)
  await world.cron()
  await world.pump()
  const told = await world.heard()
  const last = told.filter(({ features }) => String(features?.[0]?.after).startsWith('k'))
  expect(new Set(last.map(({ consumer_id }) => consumer_id)).size).toBe(N)
  expect(told.filter(({ type }) => type === 'entitlements.changed').length).toBeLessThanOrEqual(2 * N)
})

it('switching it off and on does not end its rest', async () => {
  const world = await heavy()
  for (let i = 0; i < 3; i++) {
    await world.set({ watch_entitlements: false })
    await world.set({ watch_entitlements: true })
    await world.cron()
    await world.pump()
  }
  const revisions = await rows('SELECT DISTINCT revision FROM entitlement_states WHERE project_id = ?', world.project)
  const [{ version } = { version: 0 }] = await rows<{ version: number }>(
    'SELECT version FROM watchers WHERE project_id = ?',
    world.project,
  )
  // Each switch is a version, and no step was taken since the states were written.
  expect(version - Math.max(...revisions.map(({ revision }) => Number(revision)))).toBe(6)
  advance(LEASE_MS)
  await world.cron()
  await world.pump()
  expect((await world.heard()).map(({ type }) => type).at(-1)).toBe('entitlements.watching')
})

it('what an ordinary change writes takes no rest', () => {
  expect(restAfter(FREE_WRITTEN)).toBe(0)
  expect(restAfter(FREE_WRITTEN + 64 * 1024)).toBe(1000)
})
