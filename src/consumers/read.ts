import { and, asc, type Column, desc, eq, getTableColumns, gt, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, type Query, raw } from '../db/client'
import { fitsPage, json } from '../db/sql'
import { type Total, totalOf } from '../db/total'
import type { Order } from '../http/page'
import { Fault, requireFound } from '../lib/fault'
import { idsBeginning } from './beginning'
import { MAX_CONSUMER_PAGE_BYTES, MAX_CONSUMERS_LOOKED_AT } from './limits'
import type { ConsumerRef } from './ref'
import { type ConsumerState, consumerIds, consumers, EMPTY } from './schema'

const c = alias(consumers, 'c')
const i = alias(consumerIds, 'i')
const m = alias(consumers, 'm')

const ownIds = sql`SELECT ${i.external_id} FROM ${consumerIds} ${i} INDEXED BY consumer_ids_consumer
  WHERE ${i.project_id} = ${c.project_id} AND ${i.consumer_id} = ${c.id} ORDER BY ${i.position}`

const { project_id: _, erasure_id: __, name_keys: ___, created_by: ____, edits: _____, ...columns } = getTableColumns(c)
const shown = {
  ...columns,
  /** In their order. */
  external_ids: json<string[]>(sql`(SELECT json_group_array(external_id) FROM (${ownIds}))`).as('external_ids'),
}

/** What a list shows: see {@link ListedConsumer}. */
const listed = { ...shown, part: sql`'consumer'`.as('part') }

/** A consumer with its external ids. */
export type Consumer = ReturnType<typeof findConsumer>['_']['result'][number]
/**
 * A row of a list. `consumer`: a consumer. `over`: one that no longer fits into the bytes of the page. `end`: the last one that
 * was looked at, after which the next page starts. The last two have only their id.
 */
export type ListedConsumer = (Consumer & { part: 'consumer' }) | { id: string; part: 'over' | 'end' }

/** The id of the consumer that a reference names, as an expression; NULL if there is no such external id. */
export function consumerIdOf(projectId: string, ref: ConsumerRef): SQL {
  if ('id' in ref) return sql`${ref.id}`
  return sql`(SELECT ${i.consumer_id} FROM ${consumerIds} ${i}
    WHERE ${i.project_id} = ${projectId} AND ${i.external_id} = ${ref.external_id})`
}

/** Reads a consumer, a merged or erased one too. */
export function findConsumer(db: Db, projectId: string, ref: ConsumerRef) {
  return consumerWithId(db, projectId, consumerIdOf(projectId, ref))
}

/** As {@link findConsumer}. @param id an expression */
export function consumerWithId(db: Db, projectId: string, id: SQL) {
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM ${consumers} ${c} WHERE ${c.project_id} = ${projectId} AND ${c.id} = ${id}`,
  )
}

/** Reads a consumer; of one that was merged, the survivor. */
export function findSurvivor(db: Db, projectId: string, id: string) {
  const survivor = sql`(SELECT coalesce(${m.merged_into}, ${m.id}) FROM ${consumers} ${m}
    WHERE ${m.project_id} = ${projectId} AND ${m.id} = ${id})`
  return consumerWithId(db, projectId, survivor)
}

/**
 * The consumer that {@link findConsumer} read.
 *
 * @throws {Fault} `not_found`, `consumer_merged`
 */
export function requireConsumer(rows: readonly Consumer[]): Consumer {
  const row = requireFound(rows, 'Consumer')
  if (row.merged_into !== null) {
    throw new Fault('consumer_merged', `This consumer was merged into ${row.merged_into}. Use that one.`)
  }
  return row
}

/**
 * The consumer that {@link findConsumer} read, if it can be changed.
 *
 * @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased`
 */
export function changeable(rows: readonly Consumer[]): Consumer {
  const row = requireConsumer(rows)
  if (row.state === 'erased') throw new Fault('consumer_erased', 'This consumer was erased. It cannot be changed.')
  return row
}

/** `begins`: how the email address, the name or an external id begins. `unmerged`: none that was merged into another one. */
type Asked = Partial<Record<'email' | 'begins', string | undefined>> & {
  unmerged?: boolean
  state?: ConsumerState | undefined
  order?: Order | undefined
}

/** About what a consumer takes as JSON beside its own fields and its external ids. */
const BYTES_OF_REST = 400
const SIZED = [...Object.keys(EMPTY), 'external_ids'].map(
  (name) => sql`coalesce(octet_length(${sql.identifier(name)}), 0)`,
)

/**
 * Reads a project's consumers, newest first or oldest first, starting after the consumer `before`. A page ends early where the consumers take
 * more than {@link MAX_CONSUMER_PAGE_BYTES}; the last one may go beyond. A filtered page also ends after {@link MAX_CONSUMERS_LOOKED_AT}
 * consumers. See {@link ListedConsumer}.
 */
export function listConsumers(
  db: Db,
  projectId: string,
  asked: Asked,
  { before, take }: { before: string | null; take: number },
): Query<ListedConsumer[]> {
  const { table, range, rest } = planOf(projectId, asked)
  const isAfter = asked.order === 'asc' ? gt : lt
  const inOrder = asked.order === 'asc' ? asc(c.id) : desc(c.id)
  const from = and(eq(c.project_id, projectId), range, before === null ? undefined : isAfter(c.id, before))
  const scan = sql`FROM ${table} WHERE ${from} ORDER BY ${inOrder}`
  const found = (fields: SQL) => sql`SELECT ${fields}
    FROM (SELECT ${c}.* ${scan} LIMIT ${rest ? MAX_CONSUMERS_LOOKED_AT : take}) ${c}
    WHERE ${rest ?? sql`1`} ORDER BY ${inOrder} LIMIT ${take}`
  const size = sql`${sql.join(SIZED, sql` + `)} + ${BYTES_OF_REST}`
  const kept = Object.keys(listed).map((name) => {
    const column = sql.identifier(name)
    if (name === 'id') return sql`${column}`
    return sql`iif(fits, ${column}, ${name === 'part' ? sql`'over'` : sql`NULL`}) AS ${column}`
  })
  const page = (fields: SQL) => sql`SELECT ${sql.join(kept, sql`, `)} FROM (
    SELECT *, ${fitsPage(size, MAX_CONSUMER_PAGE_BYTES)} AS fits FROM (${found(fields)}))`
  const end = { place: { id: c.id, part: sql`'end'` }, from: scan, most: rest ? MAX_CONSUMERS_LOOKED_AT : null }
  return raw(db, listed, (fields) => withEnd(Object.keys(listed), page(fields), end, take)) as Query<ListedConsumer[]>
}

/** What a list walks, the part of it, and what is then checked in each row. */
function planOf(
  projectId: string,
  { email, begins, unmerged, state }: Asked,
): { table: SQL; range: SQL | undefined; rest: SQL | undefined } {
  const rest = state === undefined ? undefined : eq(c.state, state)
  const kept = unmerged ? isNull(c.merged_into) : undefined
  const walked = (index: SQL) => sql`${consumers} ${c} ${index}`
  if (begins !== undefined) {
    // CROSS JOIN: from what was found to its rows.
    const table = sql`${idsBeginning(projectId, begins)} f CROSS JOIN ${walked(sql``)}`
    return { table, range: and(sql`${c.id} = f.id`, kept), rest }
  }
  if (email !== undefined) {
    return { table: walked(sql`INDEXED BY consumers_email`), range: and(eq(c.email, email), kept), rest }
  }
  if (state === undefined || state === 'active') return { table: walked(sql`NOT INDEXED`), range: kept, rest }
  return {
    table: walked(sql`INDEXED BY consumers_state`),
    range: and(rest, sql`${c.state} <> 'active'`),
    rest: undefined,
  }
}

/** Counts the consumers of a list, up to a bound: see {@link totalOf}. */
export function countConsumers(db: Db, projectId: string, asked: Pick<Asked, 'state'>): Query<Total[]> {
  const { table, range, rest } = planOf(projectId, asked)
  const walk = (columns: SQL) => sql`SELECT ${columns} FROM ${table} WHERE ${and(eq(c.project_id, projectId), range)}`
  const n = totalOf({ walk, as: c, columns: sql`${c.state}`, rest })
  return raw(db, { n }, (fields) => sql`SELECT ${fields}`)
}

export function isConsumer(row: ListedConsumer): row is Extract<ListedConsumer, { part: 'consumer' }> {
  return row.part === 'consumer'
}

/** The ids of the consumers that were merged into this one, as a subquery. */
export function mergedInto(projectId: string, id: string): SQL {
  return sql`(SELECT ${c.id} FROM ${consumers} ${c} INDEXED BY consumers_merged
    WHERE ${c.project_id} = ${projectId} AND ${c.merged_into} = ${id})`
}

/** Reads the ids of the consumers that were merged into this one. */
export function listMerged(db: Db, projectId: string, into: ConsumerRef) {
  return raw(
    db,
    { id: c.id },
    (fields) => sql`SELECT ${fields} FROM ${consumers} ${c} INDEXED BY consumers_merged
      WHERE ${c.project_id} = ${projectId} AND ${c.merged_into} = ${consumerIdOf(projectId, into)}`,
  )
}

/** Counts the consumers that were merged into any of these. */
export function countMerged(db: Db, projectId: string, into: readonly ConsumerRef[]) {
  const ids = sql.join(
    into.map((ref) => consumerIdOf(projectId, ref)),
    sql`, `,
  )
  return raw(
    db,
    { n: sql<number>`count(*)` },
    (fields) => sql`SELECT ${fields} FROM ${consumers} ${c} INDEXED BY consumers_merged
      WHERE ${c.project_id} = ${projectId} AND ${c.merged_into} IN (${ids})`,
  )
}

/**
 * A page of a list, and its end if the page may look at a limited number of rows and is not full after them: a row with only
 * the place of the last one looked at. SQLite reads the end only where the page has fewer rows than `take`.
 *
 * @param columns of the page, in order
 * @param end.place the columns that the end has; the others are NULL
 * @param end.from what the page looks at, in its order: everything after the selected columns
 * @param end.most how many rows the page may look at; null without a limit
 */
export function withEnd(
  columns: readonly string[],
  page: SQL,
  { place, from, most }: { place: Record<string, SQL | Column>; from: SQL; most: number | null },
  take: number,
): SQL {
  const fields = sql.join(
    columns.map((name) => sql`${place[name] ?? sql`NULL`}`),
    sql`, `,
  )
  return sql`SELECT * FROM (${page})
    UNION ALL
    SELECT * FROM (SELECT ${fields} ${from} LIMIT ${most === null ? 0 : 1} OFFSET ${(most ?? 1) - 1})
    LIMIT ${take}`
}
