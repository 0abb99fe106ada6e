import { unpackedPart } from '../../src/inbox/summary-packing'
import { bound } from './bound'
import { databaseOf, STORES } from './stores'

/** What is packed of the summary of an event, as it stands in {@link storedText}. */
const PACKED = /"summary_rest":(\[[\d,]+\])/g

/** Everything that D1 and KV hold, as one text: every row of every table of every database, every key and value. Packed parts of summaries are unpacked. */
export async function storedText(): Promise<string> {
  const databases = await Promise.all(STORES.map((store) => rowsOf(databaseOf(store))))
  const { keys } = await bound.KV.list()
  const values = await Promise.all(keys.map(({ name }) => bound.KV.get(name)))
  return JSON.stringify([databases, keys, values]).replaceAll(PACKED, (_, bytes) =>
    unpackedPart(Uint8Array.from(JSON.parse(bytes))),
  )
}

const USED = /"last_use(d_at)?":(\d+|null|"([^"\\]|\\.)*")/g

/**
 * Every table of every database with its rows, as text, by store and name. What a call may write whatever it is answered is
 * left out: when and how a credential was last used.
 */
export async function storedTables(): Promise<Record<string, string>> {
  const all: Record<string, string> = {}
  for (const store of STORES) {
    const [tables, rows] = await rowsOf(databaseOf(store))
    for (const [i, { name }] of tables.entries()) {
      if (name === 'api_key_days') continue
      all[`${store} ${name}`] = JSON.stringify(rows[i]).replaceAll(USED, '"used":0')
    }
  }
  return all
}

/**
 * Deletes what a test has written, so that the next one has less to compare. Members stay, because triggers keep the owners, and so do
 * the rows that the migrations made.
 *
 * @param seeded what {@link storedTables} read before the first test
 */
export async function emptyTables(seeded: Record<string, string>): Promise<void> {
  const emptied = Object.keys(seeded).filter((table) => seeded[table] === '[]' && !table.endsWith(' members'))
  for (const store of STORES) {
    const database = databaseOf(store)
    const names = emptied.filter((table) => table.startsWith(`${store} `)).map((table) => table.split(' ')[1])
    await database.batch(names.map((name) => database.prepare(`DELETE FROM "${name}"`)))
  }
}

async function rowsOf(database: D1Database): Promise<[tables: { name: string }[], rows: unknown[][]]> {
  const { results: tables } = await database
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
    )
    .all<{ name: string }>()
  const rows = await database.batch(tables.map(({ name }) => database.prepare(`SELECT * FROM "${name}"`)))
  return [tables, rows.map(({ results }) => results)]
}
