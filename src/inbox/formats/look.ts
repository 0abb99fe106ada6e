import { and, type Column, eq, getTableColumns, isNull, ne, sql } from 'drizzle-orm'
import { batch, type Db, type Query, run } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { excluded } from '../../db/sql'
import { replaced } from '../../db/upsert'
import { MAX_LISTED } from '../../notices/limits'
import { noticesOpened } from '../../notices/open'
import { notices } from '../../notices/schema'
import type { PassStep } from '../../tenancy/pass'
import { connections } from '../connections/schema'
import type { ConnectionPlace } from '../of-connection'
import { unknownWordsOf, vanishedIn } from './findings'
import { LOOKED_AT_AGAIN } from './limits'
import { type FindingsRow, type FormatRow, formatFindings, formats } from './schema'
import { listed } from './store'

/** The findings about a connection's format that need attention; null if there are none. */
export function troubleIn(of: ConnectionPlace, rows: readonly FormatRow[], now: number): FindingsRow | null {
  const vanished = vanishedIn(rows)
  const words = unknownWordsOf(rows, now)
  const first = vanished[0]?.after ?? words[0]
  if (!first) return null
  return {
    ...of,
    vanished: vanished.map(({ kind, field }) => `${kind}.${field}`),
    words: words.map(({ kind, field, word }) => `${kind} ${field} ${word}`),
    api_version: first.api_version,
  }
}

/** The statements that read what {@link noteFindings} needs about these connections. */
export function formatsOf(db: Db, some: readonly ConnectionPlace[]) {
  const isOne = ({ project_id, connection_id }: typeof formats | typeof formatFindings) =>
    and(eq(project_id, sql`j.value->>0`), eq(connection_id, sql`j.value->>1`))
  return {
    rows: db.select(getTableColumns(formats)).from(listed(some)).crossJoin(formats).where(isOne(formats)),
    known: db
      .select(getTableColumns(formatFindings))
      .from(listed(some))
      .crossJoin(formatFindings)
      .where(isOne(formatFindings)),
  }
}

type Read = { rows: FormatRow[]; known: FindingsRow[] }

/**
 * Stores the findings of connections if they have changed, and opens a notice for each connection with new findings.
 *
 * @param again also opens notices for findings that have not changed: there may have been too many notices before
 */
export async function noteFindings(
  db: Db,
  some: readonly ConnectionPlace[],
  { rows, known }: Read,
  { now, again = false }: { now: number; again?: boolean },
): Promise<void> {
  const byConnection = Map.groupBy(rows, ({ connection_id }) => connection_id)
  const troubles = some.flatMap((of) => troubleIn(of, byConnection.get(of.connection_id) ?? [], now) ?? [])
  const over = known.filter(({ connection_id }) => troubles.every((one) => one.connection_id !== connection_id))
  const told = troubles.filter((one) => again || !known.some((other) => isSame(one, other)))
  const { project_id, connection_id } = formatFindings
  const isOver = sql`(${project_id}, ${connection_id}) IN (SELECT value->>0, value->>1 FROM ${listed(over)})`
  const statements = {
    ...(over.length > 0 && { over: db.delete(formatFindings).where(isOver) }),
    ...(told.length > 0 && { noted: findingsNoted(db, told), told: changedTold(db, told, now) }),
  }
  if (Object.keys(statements).length > 0) await batch(db, statements)
}

function isSame(one: FindingsRow, other: FindingsRow): boolean {
  const textOf = ({ project_id, connection_id, vanished, words, api_version }: FindingsRow) =>
    JSON.stringify([project_id, connection_id, vanished, words, api_version])
  return textOf(one) === textOf(other)
}

function findingsNoted(db: Db, rows: readonly FindingsRow[]): Query<void> {
  const of = (name: keyof FindingsRow) => sql`j.value->>${sql.raw(`'${name}'`)}`
  const row = {
    project_id: of('project_id'),
    connection_id: of('connection_id'),
    vanished: of('vanished'),
    words: of('words'),
    api_version: of('api_version'),
  }
  const { vanished, words, api_version } = formatFindings
  const differs = sql`(${vanished}, ${words}, ${api_version}) IS NOT (${excluded(vanished)}, ${excluded(words)}, ${excluded(api_version)})`
  // It may have been deleted since it was read.
  const live = and(eq(connections.id, row.connection_id), isNull(connections.deleted_at))
  const from = sql`FROM json_each(${JSON.stringify(rows)}) j WHERE EXISTS (SELECT 1 FROM ${connections} WHERE ${live})
    ON CONFLICT DO UPDATE SET ${replaced(vanished, words, api_version)} WHERE ${differs}`
  return insertFrom(db, formatFindings, row, from)
}

/** Opens a notice for each of these connections, unless it is disabled. */
function changedTold(db: Db, rows: readonly FindingsRow[], now: number): Query<void> {
  const { project_id, connection_id, vanished, words, api_version } = formatFindings
  const texts = (list: Column) =>
    sql`(SELECT coalesce(group_concat(value, ', '), '') FROM (SELECT value FROM json_each(${list}) LIMIT ${MAX_LISTED}))`
  const facts = sql`json_object('name', ${connections.name}, 'version', ${api_version},
    'fields', ${texts(vanished)}, 'vanished', json_array_length(${vanished}),
    'words', ${texts(words)}, 'unknown', json_array_length(${words}))`
  const from = sql`FROM ${listed(rows)} CROSS JOIN ${formatFindings} ON ${project_id} = j.value->>0 AND ${connection_id} = j.value->>1
    CROSS JOIN ${connections} ON ${connections.id} = ${connection_id} AND ${connections.project_id} = ${project_id} WHERE ${isWatched}`
  return noticesOpened(db, { project_id, kind: sql`'format_changed'`, object_id: connection_id, facts }, from, now)
}

const isWatched = and(isNull(connections.deleted_at), ne(connections.status, 'disabled'))

/** Whether the connection of a notice no longer has findings. */
export const isFormatFine = sql`NOT EXISTS (SELECT 1 FROM ${formatFindings} CROSS JOIN ${connections}
  ON ${connections.id} = ${formatFindings.connection_id}
  WHERE ${formatFindings.project_id} = ${notices.project_id} AND ${formatFindings.connection_id} = ${notices.object_id} AND ${isWatched})`

/** Reads the connections of a project that have vanished fields. */
export function findVanished(db: Db, projectId: string) {
  return db
    .select({ name: connections.name, vanished: formatFindings.vanished })
    .from(formatFindings)
    .innerJoin(connections, eq(connections.id, formatFindings.connection_id))
    .where(and(eq(formatFindings.project_id, projectId), isWatched, sql`${formatFindings.vanished} <> '[]'`))
    .orderBy(connections.id)
}

/**
 * Looks again at the next connections of which something is noted, because their weeks get old also if nothing comes.
 *
 * @param after the connection that the last step came to, as it says; empty: none
 */
export async function lookAgain(db: Db, after: string, now: number): Promise<PassStep> {
  const [project = '', id = ''] = after.split(' ')
  const { project_id, connection_id } = formatFindings
  const next = db
    .select({ project_id, connection_id })
    .from(formatFindings)
    .where(sql`(${project_id}, ${connection_id}) > (${project}, ${id})`)
  const some = await run(db, next.orderBy(project_id, connection_id).limit(LOOKED_AT_AGAIN))
  if (some.length > 0) await noteFindings(db, some, await batch(db, formatsOf(db, some)), { now, again: true })
  const last = some.at(-1)
  return {
    done: some.length,
    after: last && some.length === LOOKED_AT_AGAIN ? `${last.project_id} ${last.connection_id}` : null,
  }
}
