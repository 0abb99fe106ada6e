import { and, eq, isNull, lt, not, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db, Query } from '../../db/client'
import { deleteSome } from '../../db/delete-some'
import { insertFrom } from '../../db/insert-from'
import { bare, excluded } from '../../db/sql'
import { addUp, addUpCounts } from '../../db/upsert'
import { isDeleted } from '../../tenancy/project'
import { connections } from '../connections/schema'
import { type ConnectionPlace, ofConnection } from '../of-connection'
import { MAX_UNKNOWN_WORDS, MAX_VERSIONS } from './limits'
import { type FormatRow, formatFindings, formats } from './schema'

const f = alias(formats, 'f')

/** Adds counts to the stored ones. Skips deleted connections and projects. */
export function formatsAdded(db: Db, rows: readonly FormatRow[]): Query<void> {
  const of = (name: keyof FormatRow) => sql`j.value->>${sql.raw(`'${name}'`)}`
  // The first event of a version outlives its week: it tells which of two versions is the newer one.
  const firstOf = sql`coalesce((SELECT min(${f.first_event}) FROM ${formats} ${f} WHERE ${f.project_id} = ${of('project_id')}
    AND ${f.connection_id} = ${of('connection_id')} AND ${f.api_version} = ${of('api_version')} AND ${f.kind} = ${of('kind')}), ${of('first_event')})`
  const row = {
    project_id: of('project_id'),
    connection_id: of('connection_id'),
    api_version: of('api_version'),
    kind: of('kind'),
    week: of('week'),
    events: of('events'),
    fields: of('fields'),
    words: of('words'),
    first_event: sql`min(${of('first_event')}, ${firstOf})`,
    last_event: of('last_event'),
  }
  const { words, first_event, last_event } = formats
  const from = sql`FROM json_each(${JSON.stringify(rows)}) j WHERE ${isLive(row.project_id, row.connection_id)}
    ON CONFLICT DO UPDATE SET ${addUp(formats.events)}, ${addUpCounts(formats.fields)}, ${addUpCounts(words, MAX_UNKNOWN_WORDS)},
      ${bare(first_event)} = min(${first_event}, ${excluded(first_event)}),
      ${bare(last_event)} = max(${last_event}, ${excluded(last_event)})`
  return insertFrom(db, formats, row, from)
}

/** Whether a connection and its project still exist. */
function isLive(projectId: SQL, id: SQL): SQL {
  const live = and(
    eq(connections.id, id),
    eq(connections.project_id, projectId),
    isNull(connections.deleted_at),
    not(isDeleted(connections.project_id)),
  )
  return sql`EXISTS (SELECT 1 FROM ${connections} WHERE ${live})`
}

/** Deletes the versions of these connections beyond the limit: the least recently seen ones. */
export function versionsTrimmed(db: Db, some: readonly ConnectionPlace[]) {
  const own = sql`SELECT ${f.project_id}, ${f.connection_id}, ${f.api_version}, max(${f.last_event}) AS last
    FROM ${listed(some)} CROSS JOIN ${formats} ${f} WHERE ${isListed} GROUP BY 1, 2, 3`
  const placed = sql`SELECT project_id, connection_id, api_version,
    row_number() OVER (PARTITION BY connection_id ORDER BY last DESC) AS place FROM (${own})`
  const { project_id, connection_id, api_version } = formats
  return db
    .delete(formats)
    .where(
      sql`(${project_id}, ${connection_id}, ${api_version}) IN (SELECT project_id, connection_id, api_version FROM (${placed}) WHERE place > ${MAX_VERSIONS})`,
    )
}

/** The connections without duplicates, as the table `j` of a statement. */
export function listed(some: readonly ConnectionPlace[]): SQL {
  const once = new Map(some.map(({ project_id, connection_id }) => [connection_id, [project_id, connection_id]]))
  return sql`json_each(${JSON.stringify([...once.values()])}) j`
}
const isListed = sql`${f.project_id} = j.value->>0 AND ${f.connection_id} = j.value->>1`

/** Reads the counts of a connection. */
export function listFormats(db: Db, of: ConnectionPlace) {
  return db.select().from(formats).where(ofConnection(formats, of))
}

/** Deletes the counts and findings of a connection. */
export function formatsForgotten(db: Db, of: ConnectionPlace) {
  return {
    formats: db.delete(formats).where(ofConnection(formats, of)),
    format_findings: db.delete(formatFindings).where(ofConnection(formatFindings, of)),
  }
}

/** Deletes `most` of the counts of weeks before this one. */
export function purgeFormats(db: Db, before: number, most: number) {
  const { project_id, connection_id, api_version, kind, week } = formats
  const where = lt(week, before)
  return deleteSome(db, formats, { key: [project_id, connection_id, api_version, kind, week], where, most })
}
