import { and, asc, desc, eq, gt, inArray, lt, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { apiKeys } from '../api-keys/schema'
import { auditLog } from '../audit/schema'
import { type Database, type Db, type Query, raw, run } from '../db/client'
import { json, valuesOf } from '../db/sql'
import { type Total, totalOf } from '../db/total'
import type { Runtime } from '../env'
import { type Order, type Page, paging } from '../http/page'
import { isOne } from '../http/read'
import { invitations } from '../tenancy/schema'
import { type AuditFilters, auditRange, MAX_ENTRIES_LOOKED_AT } from './filters'

const a = alias(auditLog, 'a')
const i = alias(invitations, 'i')

/**
 * The details. The address of an invitation is only in the invitation, so an address that is erased there is erased here:
 * the id of its user has taken its place, which contains no `@`. Rows of older versions have a copy of it.
 */
const details = sql`CASE WHEN ${i.email} IS NULL THEN ${a.details} WHEN instr(${i.email}, '@') = 0 THEN json_remove(${a.details}, '$.email')
  ELSE json_set(${a.details}, '$.email', ${i.email}) END`

const shown = {
  id: a.id,
  actor_type: a.actor_type,
  actor_id: a.actor_id,
  action: a.action,
  object_type: a.object_type,
  object_id: a.object_id,
  request_id: a.request_id,
  client_request_id: a.client_request_id,
  details: json<Record<string, unknown> | null>(details).as('details'),
  /** Of an API key, revoked ones too. */
  actor_name: sql<string | null>`${apiKeys.name}`.as('actor_name'),
}
/** An entry with the current name of its actor, if that is an API key. */
export type AuditRow = Shown<typeof shown>
type Shown<F extends Parameters<typeof raw>[1]> = ReturnType<typeof raw<F>>['_']['result'][number]
/** An entry; or, without an action, the place that the next page starts after: see {@link listAudit}. */
export type ListRow = Pick<AuditRow, 'id'> & { [Name in Exclude<keyof AuditRow, 'id'>]: AuditRow[Name] | null }

/** Where a page begins, after the entry `before` in this order, and how many entries it takes. */
type At = { before: string | null; take: number; order?: Order | undefined }

/**
 * Reads the part of a project's audit log that is in one database, newest first or oldest first, starting after the entry `before`. If
 * a filtered page is not full after {@link MAX_ENTRIES_LOOKED_AT} entries, it ends with a row that has only an id: that of the
 * last one looked at.
 *
 * The time range is a range of the primary key. The other filters have no index: each would cost one more row for every
 * change, in a log that rarely grows beyond the bound of one page.
 *
 * @throws {Fault} `validation_failed` if the time range is empty
 */
export function listAudit(
  db: Database,
  projectId: string,
  filters: AuditFilters,
  { before, take, order }: At,
): Query<ListRow[]> {
  let { above, below } = auditRange(filters)
  // One bound at each end, because SQLite begins at only one of two.
  if (before !== null && order === 'asc' && before > above) above = before
  if (before !== null && order !== 'asc' && before < below) below = before
  const range = and(eq(a.project_id, projectId), gt(a.id, above), lt(a.id, below))
  const inOrder = order === 'asc' ? asc(a.id) : desc(a.id)
  const wanted = conditionOf(filters)
  const scan = sql`FROM ${auditLog} ${a} NOT INDEXED WHERE ${range} ORDER BY ${inOrder}`
  const rest = Object.keys(shown)
    .slice(1)
    .map(() => sql`NULL`)
  // Without filters, a page needs no more entries than it shows.
  const most = wanted ? MAX_ENTRIES_LOOKED_AT : take
  // SQLite runs the second part only where the first one has fewer rows than the limit.
  return raw(
    db,
    shown,
    (fields) => sql`
      SELECT * FROM (
        SELECT ${fields} FROM (SELECT * ${scan} LIMIT ${most}) ${a}
        LEFT JOIN ${apiKeys} ON ${a.actor_type} = 'api_key' AND ${apiKeys.id} = ${a.actor_id}
        LEFT JOIN ${invitations} ${i} ON ${a.object_type} = 'invitation' AND ${i.project_id} = ${a.project_id} AND ${i.id} = ${a.object_id}
        WHERE ${wanted ?? sql`1`} ORDER BY ${inOrder} LIMIT ${take})
      UNION ALL
      SELECT * FROM (SELECT ${a.id}, ${sql.join(rest, sql`, `)} ${scan} LIMIT ${wanted ? 1 : 0} OFFSET ${MAX_ENTRIES_LOOKED_AT - 1})
      LIMIT ${take}`,
  )
}

/** Counts the entries of a list that are in one database, up to a bound: see {@link totalOf}. */
export function countAudit(db: Database, projectId: string, filters: AuditFilters): Query<Total[]> {
  const { above, below } = auditRange(filters)
  const range = and(eq(a.project_id, projectId), gt(a.id, above), lt(a.id, below))
  const n = totalOf({
    walk: (columns) => sql`SELECT ${columns} FROM ${auditLog} ${a} NOT INDEXED WHERE ${range}`,
    as: a,
    columns: sql`${a.actor_id}, ${a.action}, ${a.object_type}, ${a.object_id}, ${a.details}`,
    rest: conditionOf(filters),
  })
  return raw(db, { n }, (fields) => sql`SELECT ${fields}`)
}

/** Reads the names of API keys, revoked ones too. */
export function keyNamesOf(db: Db, projectId: string, ids: readonly string[]) {
  return db
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(and(eq(apiKeys.project_id, projectId), inArray(apiKeys.id, valuesOf(ids))))
}

/**
 * Entries that concern a consumer and are about something else: a merge, which is about the consumer that ended, and changes of its grants,
 * devices and customers.
 */
function concernsConsumer(id: string) {
  if (!id.startsWith('csm_')) return undefined
  const isMerge = and(eq(a.action, 'consumer.merged'), sql`${a.details}->>'into' = ${id}`)
  return or(isMerge, sql`${a.details}->>'consumer' = ${id}`)
}

/** The conditions on each entry in the range; undefined if there are none. */
function conditionOf({ actor_id, action, object_type, object_id }: AuditFilters) {
  const prefix = action?.endsWith('*') ? action.slice(0, -1) : null
  return and(
    actor_id === undefined ? undefined : eq(a.actor_id, actor_id),
    prefix !== null
      ? sql`substr(${a.action}, 1, ${[...prefix].length}) = ${prefix}`
      : action === undefined
        ? undefined
        : eq(a.action, action),
    object_type === undefined ? undefined : eq(a.object_type, object_type),
    object_id === undefined ? undefined : or(eq(a.object_id, object_id), concernsConsumer(object_id)),
  )
}

/** What to read of the log: see `auditPaging`. */
type Asked = { filters: AuditFilters; at: At }

/** Sends the statement that reads a part of the log. */
type Send = (rows: Query<ListRow[]>) => Promise<ListRow[]>

/**
 * Reads a page of a project's audit log. Changes of members are logged in the directory, where members are, and all others
 * in the project's store. If these are two databases, both are read at the same time, and the rows are merged by id.
 *
 * @param send `own` for the store, with the caller's credentials where they have not been read; `other` for the directory
 * @throws {Fault} `database_unavailable` if either does not answer: part of the log must not look like the whole log
 */
export async function readAudit(
  { db, directory }: Runtime,
  { own, other = (rows) => run(directory, rows) }: { own: Send; other?: Send },
  projectId: string,
  { filters, at }: Asked,
): Promise<ListRow[]> {
  const inStore = listAudit(db, projectId, filters, at)
  if (isOne(db, directory)) return own(inStore)
  const lists = await Promise.all([own(inStore), other(listAudit(directory, projectId, filters, at))])
  const rows = mergeLists(lists, at)
  const unnamed = rows.filter((row) => row.actor_type === 'api_key' && row.actor_name === null)
  if (unnamed.length === 0) return rows
  const ids = unnamed.map(({ actor_id }) => actor_id as string)
  const names = new Map((await run(db, keyNamesOf(db, projectId, ids))).map(({ id, name }) => [id, name]))
  return rows.map((row) => ({ ...row, actor_name: row.actor_name ?? names.get(row.actor_id ?? '') ?? null }))
}

/**
 * Merges lists of one log, which are in this order. A list that stopped before the page was full says nothing about what comes
 * after its last row, so neither does the result.
 */
function mergeLists(lists: readonly ListRow[][], { take, order }: At): ListRow[] {
  const compare = (a: ListRow, b: ListRow) => (a.id === b.id ? 0 : a.id < b.id === (order === 'asc') ? -1 : 1)
  const ends = lists.flat().filter(({ action }) => action === null)
  const end = ends.sort(compare)[0]
  const entries = lists.flat().filter((row) => row.action !== null && (!end || compare(row, end) <= 0))
  return [...entries.sort(compare), ...(end ? [end] : [])].slice(0, take)
}

/**
 * A page of the audit log as it is asked for: what to give `listAudit`, and the page that its rows make. `truncated`: the
 * page ended because it had looked at as many entries as a page may.
 *
 * @param name of the list: a cursor is good for one list
 * @throws {Fault} `invalid_cursor`
 */
export function auditPaging(
  name: string,
  asked: AuditFilters & { limit: number; cursor?: string | undefined; order?: Order | undefined },
) {
  const { limit: _limit, cursor: _cursor, order, ...filters } = asked
  const { before, take, page, stopped } = paging(name, asked)
  return {
    filters,
    at: { before, take, order },
    page<T>(rows: readonly ListRow[], present: (row: AuditRow) => T): Page<T> & { truncated: boolean } {
      const end = rows.find((row) => !isEntry(row))
      return stopped(page(rows.filter(isEntry), present), end?.id ?? null)
    },
  }
}

/** The ids of the actors of these entries. */
export function actorsOf(rows: readonly ListRow[]): string[] {
  return rows.flatMap(({ actor_id }) => actor_id ?? [])
}

function isEntry(row: ListRow): row is AuditRow {
  return row.action !== null
}
