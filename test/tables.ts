import { applyD1Migrations, type D1Migration } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { type Db, openDb } from '../src/db/client'
import { dropFormerIndexes } from '../src/inbox/fewer-rows'

const { TEST_MIGRATIONS } = env as unknown as { TEST_MIGRATIONS: D1Migration[] }
type Row = Record<string, unknown>
/** What the migrations have made: statements with their values. Test files that share a worker share it. */
const shared = globalThis as unknown as { made?: [sql: string, values: unknown[]][] }

/**
 * Makes the tables in an empty database. The first file of a worker applies the migrations, and notes what they have made. All others
 * make just that, which takes a sixth of the time.
 */
export async function makeTables(database: D1Database): Promise<void> {
  if (shared.made) {
    await database.batch(shared.made.map(([sql, values]) => database.prepare(sql).bind(...values)))
    return
  }
  // All in one batch, which takes half as long as one for each. test/db/upgrade.test.ts runs them one after the other.
  const names = TEST_MIGRATIONS.map(({ name }) => name)
  const newest = names.pop() ?? ''
  const recorded = names.map((name) => `INSERT INTO d1_migrations (name) VALUES ('${name}')`)
  const all = { name: newest, queries: [...TEST_MIGRATIONS.flatMap(({ queries }) => queries), ...recorded] }
  await applyD1Migrations(database, [all])
  await dropFormerIndexes(openDb<Db>(database), 0) // as the cron does in its first minute
  shared.made = await madeIn(database)
}

/** What an empty database needs to become like this one. */
async function madeIn(database: D1Database): Promise<[sql: string, values: unknown[]][]> {
  const { results } = await database
    .prepare(
      `SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_cf%' ESCAPE '\\'
        ORDER BY type = 'trigger', type = 'index', rowid`,
    )
    .all<{ type: string; name: string; sql: string }>()
  const tables = results.filter(({ type }) => type === 'table')
  const contents = await database.batch<Row>(tables.map(({ name }) => database.prepare(`SELECT * FROM "${name}"`)))
  const rows = contents.flatMap(({ results: rows }, i) =>
    rows.map((row): [string, unknown[]] => [
      `INSERT INTO "${tables[i]?.name}" (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row).map(() => '?')})`,
      Object.values(row),
    ]),
  )
  // Rows before triggers, which would refuse or repeat some.
  const [before, triggers] = [
    results.filter(({ type }) => type !== 'trigger'),
    results.filter(({ type }) => type === 'trigger'),
  ]
  const made = (some: typeof results) => some.map(({ sql }): [string, unknown[]] => [sql, []])
  return [...made(before), ...rows, ...made(triggers)]
}
