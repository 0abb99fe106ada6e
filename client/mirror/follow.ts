/* Reads a page of the feed, then the objects that it names, and writes them and the position in one transaction. */
import type { Change } from 'platform-api-client'
import { type Api, inParallel } from './api.ts'
import { copyingOf } from './copy.ts'
import type { Database, Query } from './database.ts'
import { customersOf, merged, paymentMethodsOf, readList, readObject, type Wanted } from './objects.ts'
import { nameOf, type Plan, planOf, TYPES } from './plan.ts'
import { type Copying, move, type Position } from './position.ts'
import { type TableName, type Write, writeRows } from './tables.ts'

/** Changes of one page. Their objects are read before they are written, so a page is what a stop can cost. */
const LIMIT = 100

/** Reads the position after the newest change. */
export async function newestPosition({ client, ask }: Api): Promise<string> {
  const query = { after: 'latest', types: TYPES }
  return (await ask(() => client.GET('/platform/v1/changes', { params: { query } }))).next
}

/** Applies the next page of the feed. */
export async function followPage(api: Api, database: Database, from: Position) {
  const { client, ask } = api
  const query = { after: from.after, types: TYPES, limit: LIMIT }
  const page = await ask(() => client.GET('/platform/v1/changes', { params: { query } }))
  const plan = planOf(page.data)
  const writes = await readAll(api, database, from, plan)
  const watching = plan.settings ? (await readList(api, 'entitlements', null)).watching : undefined
  const next = nextOf(from, page, plan)
  // An empty page that leads nowhere has nothing to write.
  const isStill = page.next === from.after && next.copying === from.copying
  if (isStill) return { position: from, page, rows: 0, watching }
  const position = await database.transaction(async (run) => {
    const moved = await move(run, from, next)
    await writeRows(run, writes, from.pass)
    for (const one of plan.merges) await merge(run, one, from.pass)
    await writeRows(run, await foldTold(run, from, plan.told), from.pass)
    await writeRows(run, plan.erased.flatMap(erasedRows), from.pass)
    if (watching === 'off') await run('DELETE FROM entitlements')
    // The lists are read and the mirror has caught up, so a row that appeared in neither is gone.
    if (from.copying && next.copying === null) await sweep(run, from.copying)
    return moved
  })
  return { position, page, rows: writes.length, watching }
}

type Page = { next: string; has_more: boolean }

function nextOf({ pass, copying }: Position, { next, has_more }: Page, { watching }: Plan) {
  if (watching) return { after: next, pass: pass + 1, copying: copyingOf(['entitlements'], pass + 1, copying?.sweep) }
  return { after: next, pass, copying: has_more ? copying : null }
}

/** Reads the objects of a plan. Each is at least as new as the change that names it. */
async function readAll(api: Api, database: Database, from: Position, plan: Plan): Promise<Write[]> {
  const { objects, named, owners, payers } = plan
  const owned = (await inParallel([...owners], (consumer) => customersOf(api, consumer))).flat()
  const unknown = await unknownOf(database, from, [...named.values()])
  for (const one of [...owned, ...unknown]) if (!objects.has(nameOf(one))) objects.set(nameOf(one), one)
  const read = await inParallel([...objects.values()], (wanted) => readObject(api, wanted))
  const paid = await inParallel([...payers.values()], ({ key: [vendor = '', id = ''] }) =>
    paymentMethodsOf(api, vendor, id),
  )
  return [...read.filter((write) => write !== null), ...paid.flat()]
}

/** Which of these customers the mirror does not have, or only from before the lists were read. */
function unknownOf(database: Database, { copying }: Position, customers: readonly Wanted[]): Promise<Wanted[]> {
  if (customers.length === 0) return Promise.resolve([])
  return database.transaction(async (query) => {
    const keys = customers.map((_, i) => `($${2 * i + 2}, $${2 * i + 3})`)
    const found = await query(
      `SELECT vendor, id FROM customers WHERE pass >= $1 AND (vendor, id) IN (VALUES ${keys.join(', ')})`,
      [copying?.sweep.customers ?? 0, ...customers.flatMap(({ key }) => key)],
    )
    const known = new Set(
      found.map(({ vendor, id }) => nameOf({ table: 'customers', key: [String(vendor), String(id)] })),
    )
    return customers.filter((one) => !known.has(nameOf(one)))
  })
}

/** Those that were merged into a consumer before belong to the one that it is merged into. */
async function merge(query: Query, { id, into }: { id: string; into: string }, pass: number): Promise<void> {
  const before = await query('SELECT id FROM consumers WHERE merged_into = $1', [id])
  const all = [id, ...before.map((row) => String(row.id))]
  await writeRows(
    query,
    all.map((one) => merged(one, into)),
    pass,
  )
}

/** The entitlements of consumers after these changes: the new values of features replace the old ones. */
async function foldTold(query: Query, { copying }: Position, told: readonly Change[]): Promise<Write[]> {
  const ids = [...new Set(told.map(({ object }) => object.id))]
  if (ids.length === 0) return []
  // Rows from before the list was read are not used as a base.
  const rows = await query(
    `SELECT consumer_id, revision, object FROM entitlements WHERE pass >= $1
    AND consumer_id IN (${ids.map((_, i) => `$${i + 2}`).join(', ')})`,
    [copying?.sweep.entitlements ?? 0, ...ids],
  )
  const states = new Map(
    rows.map((row) => [String(row.consumer_id), { revision: Number(row.revision), ...JSON.parse(String(row.object)) }]),
  )
  for (const {
    object: { id },
    revision,
    features = [],
  } of told) {
    const before = states.get(id) ?? { revision: 0, features: {} }
    // The list may have been read after this change.
    if ((revision ?? 0) <= before.revision) continue
    const changed = Object.fromEntries(features.map(({ key, after }) => [key, after]))
    const all = Object.entries({ ...before.features, ...changed }).filter(([, value]) => value !== null)
    states.set(id, { revision, features: Object.fromEntries(all) })
  }
  return [...states].map(([id, { revision, features }]) => {
    const isAllowed = Object.keys(features).length > 0
    return { table: 'entitlements', key: [id], object: isAllowed ? { consumer_id: id, features } : null, revision }
  })
}

function erasedRows(id: string): Write[] {
  const gone = { key: [id], object: null, revision: null }
  return [
    { table: 'consumers', ...gone },
    { table: 'entitlements', ...gone },
  ]
}

async function sweep(query: Query, copying: Copying): Promise<void> {
  for (const [table, pass] of Object.entries(copying.sweep) as [TableName, number][]) {
    await query(`DELETE FROM ${table} WHERE pass < $1`, [pass])
  }
}
