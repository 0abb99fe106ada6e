import { and, desc, eq, isNull, lt, lte, ne, not, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db, Query } from '../../db/client'
import { deleteSome } from '../../db/delete-some'
import { insertFrom } from '../../db/insert-from'
import { isDeleted } from '../../tenancy/project'
import { connections } from '../connections/schema'
import { ofConnection } from '../of-connection'
import { DIAGNOSE_EVERY, DIAGNOSES_KEPT_FOR, MAX_DIAGNOSES, MAX_TRIED_CONNECTIONS } from './limits'
import { diagnoses } from './schema'
import { PROVEN } from './verdicts'

export type DiagnosisRow = typeof diagnoses.$inferSelect

const d = alias(diagnoses, 'd')
type OfConnection = { project_id: string; id: string }

/**
 * Writes diagnoses, except those of connections that are gone or have had one a moment ago, from this isolate or another. Only a
 * verdict that a signature proves may follow one that none does.
 */
export function diagnosesAdded(db: Db, rows: readonly DiagnosisRow[]): Query<void> {
  const of = (name: keyof DiagnosisRow) => sql`j.value->>${sql.raw(`'${name}'`)}`
  const row = {
    project_id: of('project_id'),
    connection_id: of('connection_id'),
    at: of('at'),
    cause: of('cause'),
    verdict: of('verdict'),
    signed_by: of('signed_by'),
    sender: of('sender'),
    skew_ms: of('skew_ms'),
    tried: of('tried'),
    reason: of('reason'),
    size: of('size'),
    media_type: of('media_type'),
    headers: of('headers'),
  }
  const live = and(
    eq(connections.id, row.connection_id),
    eq(connections.project_id, row.project_id),
    isNull(connections.deleted_at),
    not(isDeleted(connections.project_id)),
  )
  const isProven = (verdict: SQL) =>
    sql`${verdict} IN (${sql.join(
      PROVEN.map((it) => sql`${it}`),
      sql`, `,
    )})`
  const recent = sql`${d.project_id} = ${row.project_id} AND ${d.connection_id} = ${row.connection_id}
    AND ${d.at} > ${row.at} - ${DIAGNOSE_EVERY} AND (${isProven(sql`${d.verdict}`)} OR NOT ${isProven(row.verdict)})`
  const from = sql`FROM json_each(${JSON.stringify(rows)}) j WHERE EXISTS (SELECT 1 FROM ${connections} WHERE ${live})
    AND NOT EXISTS (SELECT 1 FROM ${diagnoses} ${d} WHERE ${recent}) ON CONFLICT DO NOTHING`
  return insertFrom(db, diagnoses, row, from)
}

/** Deletes what is too much of these connections: the oldest, but not the last of a verdict. So junk pushes out only junk. */
export function diagnosesTrimmed(db: Db, rows: readonly DiagnosisRow[]) {
  const key = sql`${d.project_id}, ${d.connection_id}, ${d.at}`
  const of = JSON.stringify(rows.map(({ project_id, connection_id }) => [project_id, connection_id]))
  const isLast = sql`${d.at} = max(${d.at}) OVER (PARTITION BY ${d.connection_id}, ${d.verdict})`
  const all = sql`SELECT ${key}, ${isLast} AS is_last FROM json_each(${of}) j CROSS JOIN ${diagnoses} ${d}
    WHERE ${d.project_id} = j.value->>0 AND ${d.connection_id} = j.value->>1`
  const placed = sql`SELECT ${key}, row_number() OVER (PARTITION BY ${d.connection_id} ORDER BY is_last DESC, ${d.at} DESC) AS place
    FROM (${all}) ${d}`
  const { project_id, connection_id, at } = diagnoses
  return db
    .delete(diagnoses)
    .where(
      sql`(${project_id}, ${connection_id}, ${at}) IN (SELECT ${key} FROM (${placed}) ${d} WHERE place > ${MAX_DIAGNOSES})`,
    )
}

/** Reads the diagnoses of a connection, newest first. @param before only those of an earlier time (ms) */
export function listDiagnoses(db: Db, { project_id, id }: OfConnection, before: number | null, limit: number) {
  const of = ofConnection(diagnoses, { project_id, connection_id: id })
  return db
    .select()
    .from(diagnoses)
    .where(and(of, before === null ? undefined : lt(diagnoses.at, before)))
    .orderBy(desc(diagnoses.at))
    .limit(limit)
}

/** Deletes the diagnoses of a connection. */
export function diagnosesForgotten(db: Db, { project_id, id }: OfConnection) {
  return db.delete(diagnoses).where(ofConnection(diagnoses, { project_id, connection_id: id }))
}

/** Reads the other connections of a project to the same vendor, newest first, whose secrets a diagnosis tries. */
export function listOthers(db: Db, { project_id, vendor, id }: OfConnection & { vendor: string }) {
  const { livemode, verification, secrets } = connections
  return db
    .select({ id: connections.id, vendor: connections.vendor, livemode, verification, secrets })
    .from(connections)
    .where(
      and(
        eq(connections.project_id, project_id),
        eq(connections.vendor, vendor),
        ne(connections.id, id),
        isNull(connections.deleted_at),
      ),
    )
    .orderBy(desc(connections.id))
    .limit(MAX_TRIED_CONNECTIONS)
}

/** Deletes diagnoses whose time is over, at most `most`. */
export function purgeDiagnoses(db: Db, now: number, most: number) {
  const { project_id, connection_id, at } = diagnoses
  const where = lte(at, now - DIAGNOSES_KEPT_FOR)
  return deleteSome(db, diagnoses, { key: [project_id, connection_id, at], where, most })
}
