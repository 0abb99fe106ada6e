import { type SQL, sql } from 'drizzle-orm'
import { type Database, rawWrite, run } from '../db/client'
import { utf8 } from '../lib/crypto'
import { MAX_CHUNK_BYTES } from './limits'
import type { Content } from './object'
import type { Table } from './tables'

/**
 * Inserts the rows of an object. A row that is there stays as it is, so that an object can be written again: a restore that was
 * stopped may have written part of it.
 *
 * @throws {Error} if the table lacks one of the columns
 */
export async function writeChunk(db: Database, table: Table, { columns, rows, large }: Content): Promise<void> {
  const missing = columns.filter((column) => !table.columns.some(({ name }) => name === column))
  if (missing.length > 0) throw new Error(`the table ${table.name} has no column ${missing.join(', ')}`)
  const into = sql`INSERT INTO ${sql.identifier(table.name)} (${sql.join(
    columns.map((column) => sql.identifier(column)),
    sql`, `,
  )})`
  const values = sql.join(
    columns.map((column, i) => decoded(i, table.columns.find(({ name }) => name === column)?.holdsText === true)),
    sql`, `,
  )
  // Not OR IGNORE, which would also leave out a row that a CHECK or a NOT NULL refuses.
  for (const list of listsOf(rows)) {
    await run(
      db,
      rawWrite(db, sql`${into} SELECT ${values} FROM json_each(${list}) j WHERE true ON CONFLICT DO NOTHING`),
    )
  }
  for (const { row, column, type, parts } of large) {
    const own = rows[row] ?? '[]'
    const key = keyOfRow(table, columns, own)
    const value = sql.identifier(column)
    const as = sql.raw(type)
    let from = 0
    for (const part of parts) {
      const longer = sql`CAST(CAST(${value} AS BLOB) || unhex(${part}) AS ${as})`
      // A part that is there already is not appended again.
      await run(
        db,
        rawWrite(
          db,
          sql`UPDATE ${sql.identifier(table.name)} SET ${value} = ${longer} WHERE ${key} AND octet_length(${value}) = ${from}`,
        ),
      )
      from += part.length / 2
    }
  }
}

/** A value of the row `j`. */
function decoded(i: number, holdsText: boolean): SQL {
  const at = (path: string) => sql`j.value ->> ${sql.raw(`'$[${i}]${path}'`)}`
  if (!holdsText) return at('')
  return sql`CASE json_type(j.value, ${sql.raw(`'$[${i}]'`)}) WHEN 'array'
    THEN iif(${at('[1]')}, '', unhex(${at('[0]')})) ELSE ${at('')} END`
}

/** The condition that a row has the key of a row of the object. */
function keyOfRow({ key }: Table, columns: readonly string[], row: string): SQL {
  const parts = key.map((column) => {
    const at = sql.raw(`'$[${columns.indexOf(column)}]'`)
    return sql`${sql.identifier(column)} = ${row} ->> ${at}`
  })
  return sql.join(parts, sql` AND `)
}

/** Rows as lists for `json_each`: usually one list. JSON escapes make a text longer than the backup has counted. */
function listsOf(rows: readonly string[]): string[] {
  const lists: string[][] = []
  let left = 0
  for (const row of rows) {
    const bytes = utf8(row).byteLength + 1
    if (bytes > left) {
      lists.push([])
      left = MAX_CHUNK_BYTES
    }
    lists.at(-1)?.push(row)
    left -= bytes
  }
  return lists.map((list) => `[${list.join()}]`)
}
