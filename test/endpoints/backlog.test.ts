import { beforeEach, expect, it } from 'vitest'
import { DAY, HOUR } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { STORE } from '../harness'
import { rows } from '../inbox/pipeline'
import { type HooksWorld, hookedD1, hooksWorld } from './world'

beforeEach(() => {
  stopClock()
})

/** Changes that wait for the endpoint. What a probe costs does not depend on how many there are. */
const BACKLOG = 3000

/** Adds changes behind those of the project, in rows of ten: as many as an event or a call makes at most, usually. */
async function addChanges({ project }: HooksWorld, n: number): Promise<void> {
  const items = JSON.stringify(Array.from({ length: 10 }, () => ({ type: 'consumer.updated', id: 'csm_backlog' })))
  await STORE.prepare(
    `INSERT INTO changes (project_id, seq, at, items)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
     SELECT ?1, (SELECT max(seq) FROM changes WHERE project_id = ?1) + 10 * i, ?3, ?4 FROM n`,
  )
    .bind(project, n / 10, Date.now(), items)
    .run()
}

it('a dead endpoint costs one probe at a time, however many changes wait for it', async () => {
  const world = await hooksWorld()
  const endpoint = await world.endpoint({ status: 500 })
  await world.change(6)
  await world.pump()
  await addChanges(world, BACKLOG)
  expect(await endpoint.get()).toMatchObject({ state: 'failing' })
  await endpoint.answers({ status: 500 })
  const runs: { trips: number; read: number; written: number }[] = []
  for (let passed = 0; passed < DAY; passed += HOUR / 2) {
    advance(HOUR / 2)
    await world.cron()
    const run = { trips: 0, read: 0, written: 0 }
    const DB = hookedD1(async ({ run: send }) => {
      const results = await send()
      run.trips += 1
      for (const { meta } of results) {
        run.read += meta.rows_read
        run.written += meta.rows_written
      }
      return results
    })
    await world.pump({ DB })
    if (run.trips > 0) runs.push(run)
  }
  const seen = (await endpoint.seen()).length
  expect((await endpoint.get()).behind).toBeGreaterThan(BACKLOG - 20)
  // After 5 s, 5 and 30 min, 2, 5 and 10 h: some seven probes in a day, of two trips each.
  expect([seen, runs.length]).toEqual([runs.length, runs.length])
  expect(seen).toBeGreaterThanOrEqual(4)
  expect(seen).toBeLessThanOrEqual(8)
  // A second message finds that the endpoint waits, in one trip.
  expect(Math.max(...runs.map(({ trips }) => trips))).toBeLessThanOrEqual(3)
  expect(Math.max(...runs.map(({ written }) => written))).toBeLessThanOrEqual(9) // with the notice that it fails
  expect(Math.max(...runs.map(({ read }) => read))).toBeLessThan(700)
  const waiting = await rows('SELECT 1 FROM deliveries WHERE endpoint_id = ?', endpoint.id)
  expect(waiting.length).toBeLessThan(20)
})
