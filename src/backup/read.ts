import { type SQL, sql } from 'drizzle-orm'
import { type Database, raw, run } from '../db/client'
import { MAX_CHUNK_BYTES, MAX_ROWS, MAX_VALUE_BYTES, PART_BYTES } from './limits'
import type { Table } from './tables'

/** A large value of a row, as hexadecimal parts in their order. `row`: which row of the chunk has it, from 0. */
export type LargeValue = { row: number; column: string; type: 'text' | 'blob'; parts: string[] }

/**
 * Some rows of a table. `rows`: each as the text of a JSON array of its columns. Nothing parses them on the way, so numbers keep
 * their digits. Bytes are an array: `["<hexadecimal>"]`. A large value is `[""]`, or `["", 1]` if it is text, and follows in parts.
 */
export type Chunk = { rows: string[]; large: LargeValue[] }

/** Which rows a backup has: all of a database, or those of one project. `columns`: those of the table that are copied. */
export type Choice = { of: SQL; columns: readonly Table['columns'][number][] }

/**
 * Reads the rows of a table after a key: at most {@link MAX_ROWS}, and about {@link MAX_CHUNK_BYTES}. Their sizes are read first:
 * that does not read large values.
 *
 * @param after the key as a JSON array; null for the first rows
 * @returns `last`: the key of the last row that was looked at; null if there was none
 */
export async function readChunk(
  db: Database,
  table: Table,
  { of, columns }: Choice,
  after: string | null,
): Promise<Chunk & { last: string | null }> {
  const from = sql`${sql.identifier(table.name)}${table.index === null ? sql`` : sql` INDEXED BY ${sql.identifier(table.index)}`}`
  const key = sql.join(table.key.map(name), sql`, `)
  const follows = after === null ? sql`true` : sql`(${key}) > (${keyIn(table, after)})`
  const texts = columns.filter(({ holdsText }) => holdsText)
  const bytes = texts.map((column) => sql`coalesce(octet_length(${name(column.name)}), 0)`)
  const sizes = await run(
    db,
    raw(
      db,
      {
        key: sql<string>`json_array(${key})`,
        is_of: sql<number>`${of}`,
        bytes: sql<number>`${sql.join([sql`${8 * columns.length}`, ...bytes], sql` + `)}`,
      },
      (fields) => sql`SELECT ${fields} FROM ${from} WHERE ${follows} ORDER BY ${key} LIMIT ${MAX_ROWS}`,
    ),
  )
  const taken = fitting(sizes)
  const last = taken.at(-1)?.key ?? null
  if (last === null || !taken.some(({ is_of }) => is_of)) return { rows: [], large: [], last }
  const within = sql`${from} WHERE ${follows} AND (${key}) <= (${keyIn(table, last)}) AND ${of}`
  const values = columns.map((column) => (column.holdsText ? encoded(name(column.name)) : name(column.name)))
  const found = await run(
    db,
    raw(
      db,
      {
        key: sql<string>`json_array(${key})`,
        row: sql<string>`json_array(${sql.join(values, sql`, `)})`,
        is_large: sql<number>`${texts.length === 0 ? sql`false` : sql`max(${sql.join([sql`0`, ...bytes], sql`, `)}) > ${MAX_VALUE_BYTES}`}`,
      },
      (fields) => sql`SELECT ${fields} FROM ${within} ORDER BY ${key}`,
    ),
  )
  const large: LargeValue[] = []
  for (const [row, { key: one, is_large }] of found.entries()) {
    if (is_large) for (const value of await readLarge(db, table, texts, one)) large.push({ row, ...value })
  }
  return { rows: found.map(({ row }) => row), large, last }
}

const name = (column: string): SQL => sql`${sql.identifier(column)}`

/** The values of a key that is given as JSON. SQLite reads them, so that large integers keep their digits. */
export function keyIn({ key }: Table, json: string): SQL {
  return sql.join(
    key.map((_, i) => sql`${json} ->> ${sql.raw(`'$[${i}]'`)}`),
    sql`, `,
  )
}

/** As many rows as have few enough bytes together; at least one. */
function fitting<T extends { bytes: number }>(rows: readonly T[]): T[] {
  let sum = 0
  const end = rows.findIndex(({ bytes }, i) => {
    sum += bytes
    return sum > MAX_CHUNK_BYTES && i > 0
  })
  return end < 0 ? [...rows] : rows.slice(0, end)
}

/** A column as it stands in the JSON of its row. */
function encoded(column: SQL): SQL {
  const isLarge = sql`octet_length(${column}) > ${MAX_VALUE_BYTES}`
  return sql`CASE typeof(${column})
    WHEN 'blob' THEN json_array(iif(${isLarge}, '', hex(${column})))
    WHEN 'text' THEN iif(${isLarge}, json_array('', 1), ${column})
    ELSE ${column} END`
}

/** Reads the large values of a row, part by part. */
async function readLarge(db: Database, table: Table, columns: Choice['columns'], key: string) {
  const isRow = sql`(${sql.join(table.key.map(name), sql`, `)}) = (${keyIn(table, key)})`
  const found: Omit<LargeValue, 'row'>[] = []
  for (const { name: column } of columns) {
    const bytes = sql`CAST(${name(column)} AS BLOB)`
    const parts: string[] = []
    let type: LargeValue['type'] = 'text'
    for (let from = 1, more = true; more; from += PART_BYTES) {
      const [row] = await run(
        db,
        raw(
          db,
          {
            type: sql<string>`typeof(${name(column)})`,
            part: sql<string>`hex(substr(${bytes}, ${from}, ${PART_BYTES}))`,
            left: sql<number>`octet_length(${name(column)}) - ${from - 1 + PART_BYTES}`,
          },
          (fields) => sql`SELECT ${fields} FROM ${sql.identifier(table.name)}
            WHERE ${isRow} AND octet_length(${name(column)}) > ${MAX_VALUE_BYTES}`,
        ),
      )
      if (row) {
        type = row.type === 'blob' ? 'blob' : 'text'
        parts.push(row.part)
      }
      more = (row?.left ?? 0) > 0
    }
    if (parts.length > 0) found.push({ column, type, parts })
  }
  return found
}
