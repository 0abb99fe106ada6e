import { afterAll, beforeAll, expect, it } from 'vitest'
import { WHOLE } from '../../src/backup/backup'
import { readChunk } from '../../src/backup/read'
import { readTables } from '../../src/backup/tables'
import { type Db, openDb } from '../../src/db/client'
import { STORE } from '../harness'

const ROWS = 'WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000)'

beforeAll(async () => {
  await STORE.batch([
    STORE.prepare(
      `${ROWS} INSERT INTO refs (project_id, ref, event_id) SELECT 'prj_costs', printf('%05d', v), 'evt_1' FROM n`,
    ),
    STORE.prepare(
      `${ROWS} INSERT INTO bodies (project_id, id, headers, body) SELECT 'prj_costs', printf('pay_%05d', v), '{}', 'x' FROM n`,
    ),
  ])
})
afterAll(async () => {
  await STORE.batch(
    ['refs', 'bodies'].map((table) => STORE.prepare(`DELETE FROM ${table} WHERE project_id = 'prj_costs'`)),
  )
})

it.each([
  ['refs', '["prj_costs","02500","evt_1"]'],
  ['bodies', '["prj_costs","pay_02500"]'],
])('a step in the middle of %s reads 500 rows, twice', async (name, after) => {
  const db = openDb<Db>(STORE)
  const table = (await readTables(db)).find((one) => one.name === name)
  if (!table) throw new Error(`there is no table ${name}`)
  const before = { ...db.meter }
  const { rows, last } = await readChunk(db, table, WHOLE.choose(table) ?? { of: null as never, columns: [] }, after)
  expect(rows).toHaveLength(500)
  expect(last).toContain('03000')
  expect(db.meter.trips - before.trips).toBe(2)
  // The rows beside them are looked at too.
  expect(db.meter.rows_read - before.rows_read).toBeLessThanOrEqual(1004)
  expect(db.meter.rows_written - before.rows_written).toBe(0)
})
