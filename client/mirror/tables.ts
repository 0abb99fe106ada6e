/* The tables of a mirror. Each has the columns that its key and common questions need, and the whole object as JSON. */
import type { Query, Value } from './database.ts'

/** An object of the API as JSON. */
export type Json = Record<string, unknown>

type Table = {
  /** The fields that identify a row. */
  key: readonly string[]
  /** Fields that are columns too. */
  columns: readonly string[]
  /** The columns that have an index. */
  indexes: readonly string[]
}

/** The tables, in the order in which they are copied. A column has the name of the field that it holds. */
export const TABLES = {
  consumers: {
    key: ['id'],
    columns: ['state', 'external_id', 'email', 'merged_into'],
    indexes: ['external_id', 'merged_into'],
  },
  subscriptions: {
    key: ['vendor', 'id'],
    columns: ['status', 'customer', 'currency', 'current_period_end', 'created_at', 'updated_at'],
    indexes: ['customer'],
  },
  invoices: {
    key: ['vendor', 'id'],
    columns: ['status', 'customer', 'subscription', 'currency', 'created_at', 'updated_at'],
    indexes: ['customer', 'subscription'],
  },
  payment_methods: {
    key: ['vendor', 'id'],
    columns: ['status', 'customer', 'type', 'created_at', 'updated_at'],
    indexes: ['customer'],
  },
  purchases: {
    key: ['vendor', 'id'],
    columns: ['status', 'customer', 'currency', 'paid_at', 'created_at', 'updated_at'],
    indexes: ['customer'],
  },
  customers: {
    key: ['vendor', 'id'],
    columns: ['status', 'consumer_id', 'external_id', 'linked_by', 'email', 'created_at', 'updated_at'],
    indexes: ['consumer_id'],
  },
  entitlements: { key: ['consumer_id'], columns: [], indexes: [] },
} as const satisfies Record<string, Table>

export type TableName = keyof typeof TABLES
export const TABLE_NAMES = Object.keys(TABLES) as TableName[]

/** What to do with a row. `object`: null if the row is to go. `revision`: of the change; null for what a list shows. */
export type Write = { table: TableName; key: readonly string[]; object: Json | null; revision: number | null }

/** Rows of one INSERT: PostgreSQL and SQLite limit the parameters of a statement. */
const ROWS_AT_ONCE = 200

/** Makes the tables that are not there yet. */
export async function createTables(query: Query, jsonType: string): Promise<void> {
  for (const [name, { key, columns, indexes }] of Object.entries<Table>(TABLES)) {
    const fields = [...key.map((one) => `${one} TEXT NOT NULL`), ...columns.map((one) => `${one} TEXT`)]
    await query(`CREATE TABLE IF NOT EXISTS ${name} (${fields.join(', ')}, revision BIGINT, pass BIGINT NOT NULL,
      object ${jsonType} NOT NULL, PRIMARY KEY (${key.join(', ')}))`)
    for (const one of indexes) await query(`CREATE INDEX IF NOT EXISTS ${name}_${one} ON ${name} (${one})`)
  }
}

/** The identity of a row among those of its table. */
export function keyOf(table: TableName, object: Json): string[] {
  return TABLES[table].key.map((field) => String(object[field]))
}

/**
 * Writes rows and removes those that are to go. Of two writes of a row, the later one counts. A row that a later revision has written in
 * the same pass stays.
 */
export async function writeRows(query: Query, writes: readonly Write[], pass: number): Promise<void> {
  const latest = new Map(writes.map((write) => [JSON.stringify([write.table, write.key]), write]))
  for (const table of TABLE_NAMES) {
    const own = [...latest.values()].filter((write) => write.table === table)
    const put = own.filter((write) => write.object !== null)
    for (let i = 0; i < put.length; i += ROWS_AT_ONCE) await upsert(query, table, put.slice(i, i + ROWS_AT_ONCE), pass)
    for (const { key, object } of own) if (object === null) await remove(query, table, key)
  }
}

async function upsert(query: Query, table: TableName, writes: readonly Write[], pass: number): Promise<void> {
  const { key, columns }: Table = TABLES[table]
  const names = [...key, ...columns, 'revision', 'pass', 'object']
  const rows = writes.map(({ key: id, object, revision }) => {
    const clean = storable(object) as Json
    return [...id, ...columns.map((field) => textOf(clean[field])), revision, pass, JSON.stringify(clean)]
  })
  const tuples = rows.map((row, r) => `(${row.map((_, i) => `$${r * names.length + i + 1}`).join(', ')})`)
  const set = [...columns, 'pass', 'object'].map((name) => `${name} = excluded.${name}`)
  await query(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES ${tuples.join(', ')}
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${set.join(', ')}, revision = CASE WHEN ${table}.pass < excluded.pass
      THEN excluded.revision ELSE coalesce(excluded.revision, ${table}.revision) END
    WHERE ${table}.pass < excluded.pass OR excluded.revision IS NULL OR ${table}.revision IS NULL
      OR excluded.revision >= ${table}.revision`,
    rows.flat(),
  )
}

async function remove(query: Query, table: TableName, key: readonly string[]): Promise<void> {
  const is = TABLES[table].key.map((field, i) => `${field} = $${i + 1}`)
  await query(`DELETE FROM ${table} WHERE ${is.join(' AND ')}`, key)
}

function textOf(value: unknown): Value {
  return value === null || value === undefined ? null : String(value)
}

/** The same without what PostgreSQL cannot store in texts: NUL characters and halves of surrogate pairs. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '\ufffd').toWellFormed()
  if (Array.isArray(value)) return value.map(storable)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [storable(name), storable(one)]))
}
