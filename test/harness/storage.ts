import { bound } from './bound'
import { databaseOf, STORES } from './stores'

/** Everything that D1 and KV hold, as one text: every row of every table of every database, every key and value. */
export async function storedText(): Promise<string> {
  const databases = await Promise.all(STORES.map((store) => rowsOf(databaseOf(store))))
  const { keys } = await bound.KV.list()
  const values = await Promise.all(keys.map(({ name }) => bound.KV.get(name)))
  return JSON.stringify([databases, keys, values])
}

async function rowsOf(database: D1Database) {
  const { results: tables } = await database
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
    )
    .all<{ name: string }>()
  const rows = await database.batch(tables.map(({ name }) => database.prepare(`SELECT * FROM "${name}"`)))
  return [tables, rows.map(({ results }) => results)]
}
