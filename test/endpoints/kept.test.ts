import { beforeEach, expect, it } from 'vitest'
import { LOG_DAYS } from '../../src/endpoints/limits'
import { idFloor } from '../../src/lib/ids'
import { DAY, MINUTE } from '../../src/lib/time'
import { stopClock } from '../clock'
import { STORE } from '../harness'
import { keepHouse, rows } from '../inbox/pipeline'
import { hooksWorld } from './world'

beforeEach(() => {
  stopClock()
})

/** For each purge: rows that are just past their time and just inside it, and the column that tells them apart. */
const PURGES = {
  delivery_runs: {
    key: 'id',
    rows: () => [-MINUTE, MINUTE].map((ms) => [idFloor('whr', Date.now() - LOG_DAYS * DAY + ms)]),
    sql: "INSERT INTO delivery_runs (project_id, endpoint_id, id, log) VALUES (?, ?, ?, '[]')",
  },
  resends: {
    key: 'id',
    rows: () => [-MINUTE, MINUTE].map((ms, i) => [`rsd_${i}`, Date.now() - LOG_DAYS * DAY + ms]),
    sql: `INSERT INTO resends (project_id, endpoint_id, id, finished_at, after, until, position, created_at, created_by)
      VALUES (?, ?, ?, ?, 0, 1, 1, 1, 'usr_1')`,
  },
  // A delivery goes with its change.
  deliveries: {
    key: 'seq',
    rows: (oldest: number) => [[oldest - 1], [oldest]],
    sql: `INSERT INTO deliveries (project_id, endpoint_id, seq, type, state) VALUES (?, ?, ?, 'consumer.created', 'failed')`,
  },
}

it.each(Object.entries(PURGES))('what an endpoint keeps goes at its time, and not before: %s', async (table, purge) => {
  const world = await hooksWorld()
  const { project } = world
  const { id } = await world.endpoint()
  await world.change(3)
  await world.pump()
  const told = await rows(
    'SELECT seq, json_array_length(items) n FROM changes WHERE project_id = ? ORDER BY seq',
    project,
  )
  const [first, second] = told as { seq: number; n: number }[]
  if (!first || !second) throw new Error('there must be two changes at least')
  await STORE.prepare('DELETE FROM changes WHERE project_id = ? AND seq = ?').bind(project, first.seq).run()
  const [old, young] = purge.rows(second.seq - second.n + 1)
  for (const values of [old, young])
    await STORE.prepare(purge.sql)
      .bind(project, id, ...(values ?? []))
      .run()
  const left = async () =>
    (await rows(`SELECT ${purge.key} AS key FROM ${table} WHERE endpoint_id = ?`, id)).map(({ key }) => key)
  expect(await left()).toEqual(expect.arrayContaining([old?.[0], young?.[0]]))
  await keepHouse(world.bindings)
  expect(await left()).toContain(young?.[0])
  expect(await left()).not.toContain(old?.[0])
})
