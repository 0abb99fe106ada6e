import { afterEach, expect, it } from 'vitest'
import type { Env } from '../../src/env'
import { call, captureConsole, DIRECTORY, databaseOf, lossyQueue, tampered } from '../harness'
import { cron } from '../inbox/pipeline/cron'

const STORES = 150
/** What D1 takes of one invocation. */
const QUERIES = 1000

afterEach(() => DIRECTORY.prepare('DELETE FROM stores WHERE number > 2').run())

/** A configuration with 150 stores, all on one database, and how many statements and visits a run of the cron makes. */
function manyStores() {
  const count = { statements: 0, visited: new Set<number>() }
  const databaseAs = (store: number) =>
    tampered(databaseOf(store === 0 ? 0 : 1), async ({ sql, statements, run }) => {
      count.statements += statements
      if (sql.includes("'last_sweep_at'") || sql.includes('d1_migrations')) count.visited.add(store)
      return run()
    })
  const numbers = Array.from({ length: STORES }, (_, store) => store)
  const { EVENTS } = lossyQueue()
  const named = numbers.slice(1).flatMap((store) => [
    [`STORE_${store}`, databaseAs(store)],
    [`EVENTS_${store}`, EVENTS],
  ])
  return { bindings: { ...Object.fromEntries(named), DB: databaseAs(0), EVENTS } as Partial<Env>, count }
}

it('a run of the cron over 150 stores stays below what D1 takes, and all are visited in their turns', async () => {
  captureConsole()
  const { bindings, count } = manyStores()
  const visited: number[] = []
  for (let run = 0; run < 10 && new Set(visited).size < STORES; run++) {
    count.statements = 0
    count.visited.clear()
    await cron(bindings)
    expect(count.statements).toBeLessThan(QUERIES)
    visited.push(...count.visited)
  }
  expect(new Set(visited).size).toBe(STORES)
  // None has its second turn long before another's first.
  const times = Map.groupBy(visited, (store) => store)
  expect(Math.max(...[...times.values()].map((list) => list.length))).toBeLessThanOrEqual(3)
  const { body } = await call('/healthz', { bindings })
  expect(body.stores).toHaveLength(STORES)
  expect(body.failing).toEqual([])
})
