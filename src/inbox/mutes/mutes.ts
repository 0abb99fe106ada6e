import { and, asc, type Column, eq, gt, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { audited, type Change } from '../../audit/store'
import { batch, type Db } from '../../db/client'
import { deleteSome } from '../../db/delete-some'
import { insertFrom } from '../../db/insert-from'
import { excluded } from '../../db/sql'
import { replaced } from '../../db/upsert'
import { Fault, notFound, requireFound } from '../../lib/fault'
import { isoOrNull } from '../../lib/time'
import { inboxConnectionEntry } from '../connections/connection'
import { connections } from '../connections/schema'
import { REFUSAL_CODES } from '../receive/refusal-codes'
import { MAX_MUTES } from './limits'
import { causeMutes, type MutedKind } from './schema'

export type MuteRow = typeof causeMutes.$inferSelect
export type MutedCause = Pick<MuteRow, 'project_id' | 'connection_id' | 'kind' | 'code'>

/** What audit entries call causes of a kind. */
const NAMED: Record<MutedKind, { action: string; code: string }> = {
  failed: { action: 'failures', code: 'error_code' },
  refused: { action: 'refusals', code: 'code' },
}

/** The cause of refusals that an address names. @throws {Fault} `not_found` if there is no such code */
export function refusalCause(project_id: string, connection_id: string, code: string): MutedCause {
  if (!REFUSAL_CODES.some((one) => one === code)) throw notFound('Code')
  return { project_id, connection_id, kind: 'refused', code }
}

/**
 * Mutes a cause until a time (ms; null: until somebody unmutes it). The same again changes nothing. The connection may be one that was
 * deleted: its events stay.
 *
 * @throws {Fault} `not_found`, `mute_limit_reached`
 */
export async function muteCause(db: Db, of: MutedCause, until: number | null, change: Change): Promise<MuteRow> {
  const { project_id, connection_id, kind, code } = of
  const mutes = sql`SELECT 1 FROM ${causeMutes} WHERE`
  const isMuted = sql`EXISTS (${mutes} ${isCause(of)})`
  const hasRoom = sql`(SELECT count(*) FROM (${mutes} ${eq(causeMutes.project_id, project_id)} LIMIT ${MAX_MUTES})) < ${MAX_MUTES}`
  const { until: column, muted_at, muted_by } = causeMutes
  const row = {
    project_id: sql`${project_id}`,
    connection_id: sql`${connection_id}`,
    kind: sql`${kind}`,
    code: sql`${code}`,
    until: sql`CAST(${until} AS INTEGER)`,
    muted_at: sql`CAST(${change.now} AS INTEGER)`,
    muted_by: sql`${change.actor.id}`,
  }
  const muted = insertFrom(
    db,
    causeMutes,
    row,
    sql`FROM ${connections} WHERE ${isOfProject(of)} AND (${hasRoom} OR ${isMuted})
      ON CONFLICT DO UPDATE SET ${replaced(column, muted_at, muted_by)} WHERE ${column} IS NOT ${excluded(column)}`,
  )
  const { rows, known } = await batch(db, {
    // What is over takes no place.
    over: db.delete(causeMutes).where(and(eq(causeMutes.project_id, project_id), lte(column, change.now))),
    ...audited(db, change, entryOf(of, 'muted', { until: isoOrNull(until) }), muted),
    rows: db.select().from(causeMutes).where(isCause(of)),
    known: findMutable(db, of),
  })
  requireFound(known, 'Connection')
  if (!rows[0]) throw new Fault('mute_limit_reached', `A project can mute ${MAX_MUTES} causes. Unmute one first.`)
  return rows[0]
}

/** Reads the connection of a cause, also one that was deleted. */
export function findMutable(db: Db, of: MutedCause) {
  const { id: connection_id, name, vendor } = connections
  return db.select({ connection_id, name, vendor }).from(connections).where(isOfProject(of))
}

/** Ends the mute of a cause. Without one, nothing changes. @throws {Fault} `not_found` */
export async function unmuteCause(db: Db, of: MutedCause, change: Change): Promise<void> {
  const unmuted = db.delete(causeMutes).where(and(isCause(of), isActive(change.now)))
  const { known } = await batch(db, {
    ...audited(db, change, entryOf(of, 'unmuted'), unmuted),
    known: findMutable(db, of),
  })
  requireFound(known, 'Connection')
}

type Listed = { kind?: MutedKind; connection_id?: string }

/** Reads the muted causes of a project: all, or those of a kind or of a connection. */
export function listMutes(db: Db, projectId: string, of: Listed, now: number) {
  const { project_id, connection_id, kind, code } = causeMutes
  return db
    .select()
    .from(causeMutes)
    .where(
      and(
        eq(project_id, projectId),
        of.connection_id === undefined ? undefined : eq(connection_id, of.connection_id),
        of.kind === undefined ? undefined : eq(kind, of.kind),
        isActive(now),
      ),
    )
    .orderBy(asc(connection_id), asc(code))
    .limit(MAX_MUTES)
}

/** Deletes mutes whose time is over, at most `most`. */
export function purgeMutes(db: Db, now: number, most: number) {
  const { project_id, connection_id, kind, code, until } = causeMutes
  return deleteSome(db, causeMutes, { key: [project_id, connection_id, kind, code], where: lte(until, now), most })
}

/** Whether a connection has a muted cause of a kind. @param code only this one */
export function isMutedOf(
  of: { project_id: Column | SQL; id: Column | SQL },
  kind: MutedKind,
  now: number,
  code?: SQL,
): SQL {
  const isIt = and(
    eq(causeMutes.project_id, of.project_id),
    eq(causeMutes.connection_id, of.id),
    eq(causeMutes.kind, kind),
    code && eq(causeMutes.code, code),
    isActive(now),
  )
  return sql`EXISTS (SELECT 1 FROM ${causeMutes} WHERE ${isIt})`
}

/** Whether a project has muted causes of a kind. */
export function hasMutes(projectId: string, kind: MutedKind, now: number): SQL {
  const isOne = and(eq(causeMutes.project_id, projectId), eq(causeMutes.kind, kind), isActive(now))
  return sql`EXISTS (SELECT 1 FROM ${causeMutes} WHERE ${isOne})`
}

function isActive(now: number) {
  return or(isNull(causeMutes.until), gt(causeMutes.until, now))
}

function isCause({ project_id, connection_id, kind, code }: MutedCause) {
  return and(
    eq(causeMutes.project_id, project_id),
    eq(causeMutes.connection_id, connection_id),
    eq(causeMutes.kind, kind),
    eq(causeMutes.code, code),
  )
}

/** Failed events of a deleted connection stay. A deleted connection refuses everything. */
function isOfProject({ project_id, connection_id, kind }: MutedCause) {
  const of = and(eq(connections.project_id, project_id), eq(connections.id, connection_id))
  return kind === 'refused' ? and(of, isNull(connections.deleted_at)) : of
}

function entryOf({ project_id, connection_id, kind, code }: MutedCause, did: 'muted' | 'unmuted', more: object = {}) {
  const named = NAMED[kind]
  return inboxConnectionEntry(project_id, connection_id, `connection.${named.action}_${did}`, {
    [named.code]: code,
    ...more,
  })
}
