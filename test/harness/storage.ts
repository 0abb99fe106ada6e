import { bound } from './call'

/** Everything that D1 and KV hold, as one text: every row of every table, every key and value. */
export async function storedText(): Promise<string> {
  const { results: tables } = await bound.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
  ).all<{ name: string }>()
  const rows = await bound.DB.batch(tables.map(({ name }) => bound.DB.prepare(`SELECT * FROM "${name}"`)))
  const { keys } = await bound.KV.list()
  const values = await Promise.all(keys.map(({ name }) => bound.KV.get(name)))
  return JSON.stringify([tables, rows.map(({ results }) => results), keys, values])
}
