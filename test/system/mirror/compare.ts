import { isDeepStrictEqual } from 'node:util'
import type { Database } from '../../../client/mirror/database.ts'
import { ask, must } from '../../../scripts/lib/api.ts'
import { FEATURES, type World } from './world.ts'

type Json = Record<string, unknown>
type Page = { data: Json[]; next_cursor: string | null }
type Rows = Map<string, Json>

/** The tables, as the API has their rows, and as the mirror has them. */
export const TABLES = [
  'subscriptions',
  'invoices',
  'payment_methods',
  'purchases',
  'customers',
  'consumers',
  'entitlements',
] as const
type Table = (typeof TABLES)[number]

/** Compares each table with the API. @returns how many rows each has, and every difference */
export async function compare(world: World, database: Database) {
  const differences: string[] = []
  const counts: Record<string, number> = {}
  for (const table of TABLES) {
    const expected = await EXPECTED[table](world)
    const found = await rowsIn(database, table)
    counts[table] = found.size
    for (const name of new Set([...expected.keys(), ...found.keys()])) {
      const [is, shall] = [found.get(name), expected.get(name)]
      if (!isDeepStrictEqual(is, shall)) {
        differences.push(`${table} ${name}: ${JSON.stringify(is)} instead of ${JSON.stringify(shall)}`)
      }
    }
  }
  return { counts, differences }
}

/** The rows of a table, by their keys. Each column must say what the object says. */
async function rowsIn(database: Database, table: Table): Promise<Rows> {
  const rows = await database.transaction((query) => query(`SELECT * FROM ${table}`))
  return new Map(
    rows.map(({ object, revision: _, pass: __, ...columns }) => {
      const parsed = JSON.parse(String(object)) as Json
      for (const [name, value] of Object.entries(columns)) {
        if ((parsed[name] ?? null) !== value) parsed[`column ${name}`] = value
      }
      return [keyOf(columns), parsed]
    }),
  )
}

const keyOf = ({ vendor, id, consumer_id }: Json) => [vendor, id ?? consumer_id].filter(Boolean).join(' ')

/** The rows of a list of the API, by their keys, without the consumers of their customers: those change without them. */
export const listed = async (world: World, path: string): Promise<Rows> =>
  new Map((await all(world, path)).map(({ consumer_id: _, ...row }) => [keyOf(row), row]))

const EXPECTED: Record<Table, (world: World) => Promise<Rows>> = {
  subscriptions: (world) => listed(world, 'billing/subscriptions'),
  invoices: (world) => listed(world, 'billing/invoices'),
  payment_methods: (world) => listed(world, 'billing/payment-methods'),
  purchases: (world) => listed(world, 'billing/purchases'),
  async customers(world) {
    const found: Rows = new Map()
    for (const row of await all(world, 'billing/customers')) {
      const path = `${world.url}/platform/v1/billing/customers/${row.vendor}/${row.id}`
      const { status, body } = await ask<Json>(path, { token: world.reader, project: world.project })
      const { subscriptions: _, invoices: __, payment_methods: ___, purchases: ____, ...own } = body as Json
      if (status === 200 && own.status !== 'deleted') found.set(keyOf(row), own)
    }
    return found
  },
  async consumers(world) {
    const rows = (await all(world, 'consumers')).filter(({ state }) => state !== 'erased')
    const shown = ({ id, state, merged_into, ...rest }: Json) =>
      state === 'merged' ? { id, state, merged_into } : { id, state, merged_into, ...rest }
    return new Map(rows.map((row) => [keyOf(row), shown(row)]))
  },
  // Not what the feed has told, but what a check says.
  async entitlements(world) {
    const ids = (await all(world, 'consumers')).filter(({ state }) => state !== 'merged').map(({ id }) => String(id))
    const found: Rows = new Map()
    for (let i = 0; i < ids.length; i += 50) {
      type Checked = { data: { consumer_id: string; features: Record<string, { allowed: boolean; value: unknown }> }[] }
      const { data } = await must<Checked>(`${world.url}/platform/v1/billing/entitlements/check`, {
        token: world.reader,
        project: world.project,
        json: { consumers: ids.slice(i, i + 50), features: FEATURES },
      })
      for (const { consumer_id, features } of data) {
        const allowed = Object.entries(features).flatMap(([key, { allowed, value }]) => (allowed ? [[key, value]] : []))
        if (allowed.length > 0) found.set(consumer_id, { consumer_id, features: Object.fromEntries(allowed) })
      }
    }
    return found
  },
}

async function all({ url, project, reader }: World, path: string): Promise<Json[]> {
  const rows: Json[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor && `&cursor=${encodeURIComponent(cursor)}`
    const page: Page = await must(`${url}/platform/v1/${path}?limit=100${query}`, { token: reader, project })
    rows.push(...page.data)
    cursor = page.next_cursor
  }
  return rows
}
