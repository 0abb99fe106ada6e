import { and, desc, eq, getTableColumns, isNull, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { audited, auditedFrom, type Change, entriesOf } from '../../audit/store'
import { batch, type Db, type Held, prepared, run } from '../../db/client'
import { insertWhere } from '../../db/insert-where'
import { keptWith } from '../../idempotency/claim'
import { Fault, notFound, requireFound } from '../../lib/fault'
import { isDeleted } from '../../tenancy/project'
import { backfills } from '../backfill/schema'
import { removedForgotten } from '../diagnoses/removed'
import { diagnosesForgotten } from '../diagnoses/store'
import { formatsForgotten } from '../formats/store'
import { heldAs } from '../held'
import { causeMutes } from '../mutes/schema'
import { ofConnection } from '../of-connection'
import { packedFrom } from '../packed-from'
import { events } from '../schema'
import { connectionHours } from '../silence/schema'
import { isDelivered } from '../sources'
import { vendorKeys } from '../vendor-api/schema'
import { vendorEndpoints } from '../vendor-endpoints/schema'
import { MAX_CONNECTIONS } from './limits'
import { connections } from './schema'

export type Connection = typeof connections.$inferSelect
/** A connection with the id of its newest event, whose time is when the connection last received one. */
export type ConnectionRow = Awaited<ReturnType<typeof listConnections>>[number]

/** What of a connection decides how its events are read: see `Recorded` in process/decide.ts. */
export const readingOf = {
  vendor: connections.vendor,
  livemode: connections.livemode,
  customer_is_external_id: connections.customer_is_external_id,
}

/**
 * Reads a connection of any project, also if it or its project is deleted. Ingest knows only its id. `packed_from`: from when (ms) its
 * database keeps packed bodies.
 */
export const findConnectionById = prepared((db: Db, { id }: { id: Held<string> }) => {
  const project_deleted = sql<boolean>`${isDeleted(connections.project_id)}`.mapWith(Boolean).as('project_deleted')
  return db
    .select({ ...getTableColumns(connections), project_deleted, packed_from: packedFrom.as('packed_from') })
    .from(connections)
    .where(eq(connections.id, id))
})

/** Reads a connection of the project. */
export function findConnection(db: Db, projectId: string, id: string) {
  return selectConnections(db, liveConnections(projectId, id))
}

/** Reads the project's connections, newest first, from before the connection `before`. */
export function listConnections(db: Db, projectId: string, before: string | null, limit: number) {
  const ofProject = and(eq(connections.project_id, projectId), isNull(connections.deleted_at))
  return selectConnections(db, and(ofProject, before === null ? undefined : lt(connections.id, before)))
    .orderBy(desc(connections.id))
    .limit(limit)
}

/** Reads the names of the project's connections, in alphabetical order. */
export function listConnectionNames(db: Db, projectId: string) {
  return db
    .select({
      id: connections.id,
      name: connections.name,
      vendor: connections.vendor,
      livemode: connections.livemode,
    })
    .from(connections)
    .where(and(eq(connections.project_id, projectId), isNull(connections.deleted_at)))
    .orderBy(connections.name, connections.id)
    .limit(MAX_CONNECTIONS)
}

/** Reads whether the project's connections receive live events, test events, or both. */
export function listModes(db: Db, projectId: string) {
  return db
    .selectDistinct({ livemode: connections.livemode })
    .from(connections)
    .where(and(eq(connections.project_id, projectId), isNull(connections.deleted_at)))
}

/** @throws {Fault} `not_found` */
export async function readConnection(db: Db, projectId: string, id: string): Promise<ConnectionRow> {
  return requireFound(await run(db, findConnection(db, projectId, id)), 'Connection')
}

/** @throws {Fault} `connection_limit_reached` */
export async function insertConnection(
  db: Db,
  fields: Pick<
    Connection,
    'id' | 'project_id' | 'vendor' | 'name' | 'livemode' | 'customer_is_external_id' | 'secrets'
  >,
  change: Change,
): Promise<ConnectionRow> {
  const { id, project_id, vendor, name } = fields
  const count = db.$count(connections, and(eq(connections.project_id, project_id), isNull(connections.deleted_at)))
  const row = { ...fields, created_at: change.now }
  const { rows } = await batch(db, {
    ...audited(
      db,
      change,
      inboxConnectionEntry(project_id, id, 'connection.created', { vendor, name }),
      insertWhere(db, connections, row, sql`${count} < ${MAX_CONNECTIONS}`),
    ),
    ...keptWith(db, change, id),
    rows: findConnection(db, project_id, id),
  })
  if (!rows[0]) {
    throw new Fault('connection_limit_reached', `A project can have ${MAX_CONNECTIONS} connections. Delete one first.`)
  }
  return rows[0]
}

/** What of a connection can be changed. A field that is undefined stays. */
type ConnectionChanges = {
  [K in 'name' | 'status' | 'livemode' | 'customer_is_external_id']?: Connection[K] | undefined
}

/**
 * Changes a connection and its `version`, so that ingest reads it again. A pause that is set again keeps its time.
 *
 * @throws {Fault} `not_found`; `api_key_other_mode` if its mode would differ from that of its API key
 */
export async function updateConnection(
  db: Db,
  { project_id, id }: Pick<Connection, 'project_id' | 'id'>,
  changes: ConnectionChanges,
  change: Change,
): Promise<ConnectionRow> {
  const { name, status, livemode, customer_is_external_id } = changes
  const modeFree = livemode === undefined ? undefined : hasNoKeyOfMode(!livemode)
  const changing = and(liveConnections(project_id, id), modeFree)
  const updated = db
    .update(connections)
    .set({
      name,
      livemode,
      customer_is_external_id,
      ...(status && withStatus(status, change.now)),
      version: nextVersion,
    })
    .where(changing)
    .returning({ id: connections.id })
  const { changed, rows } = await batch(db, {
    audited: auditedFrom(db, change, inboxConnectionEntry(project_id, id, 'connection.updated'), {
      taken: { project_id: connections.project_id, details: withBefore(changes) },
      from: sql`FROM ${connections} WHERE ${changing}`,
    }),
    changed: updated,
    rows: findConnection(db, project_id, id),
  })
  const row = requireFound(rows, 'Connection')
  if (changed.length === 0)
    throw new Fault(
      'api_key_other_mode',
      'The connection has an API key for its current mode. Remove the key before you change the mode.',
    )
  return row
}

/** The details of a change, with what it replaces, as an expression over the row of the connection. */
function withBefore(changes: ConnectionChanges): SQL {
  const flag = (column: SQLWrapper) => sql`json(iif(${column}, 'true', 'false'))`
  const stored = {
    name: sql`${connections.name}`,
    status: sql`${connections.status}`,
    livemode: flag(connections.livemode),
    customer_is_external_id: flag(connections.customer_is_external_id),
  }
  const sent = Object.entries(stored).filter(([name]) => changes[name as keyof ConnectionChanges] !== undefined)
  const before = sql.join(
    sent.map(([name, value]) => sql`${name}, ${value}`),
    sql`, `,
  )
  return sql`json_set(${JSON.stringify(changes)}, '$.before', json_object(${before}))`
}

/** What changes with the status of a connection. */
function withStatus(status: Connection['status'], now: number) {
  if (status !== 'paused') return { status, paused_at: null }
  return { status, paused_at: sql`coalesce(${connections.paused_at}, CAST(${now} AS INTEGER))`, held_as: heldAs(now) }
}

/** The condition that a connection does not have an API key of this mode. */
function hasNoKeyOfMode(livemode: boolean): SQL {
  const key = and(
    eq(vendorKeys.project_id, connections.project_id),
    eq(vendorKeys.connection_id, connections.id),
    eq(vendorKeys.livemode, livemode),
  )
  return sql`NOT EXISTS (SELECT 1 FROM ${vendorKeys} WHERE ${key})`
}

/**
 * Ends a connection. Its secrets and the key of its vendor's API are deleted. Its events stay, and held ones are released.
 *
 * @throws {Fault} `not_found`
 */
export async function deleteConnection(db: Db, projectId: string, id: string, change: Change): Promise<void> {
  const ended = db
    .update(connections)
    .set({ deleted_at: change.now, secrets: [], ...withStatus('disabled', change.now), version: nextVersion })
    .where(liveConnections(projectId, id))
    .returning({ id: connections.id })
  const of = { project_id: projectId, connection_id: id }
  const { changed } = await batch(db, {
    ...audited(db, change, inboxConnectionEntry(projectId, id, 'connection.deleted'), ended),
    key: db.delete(vendorKeys).where(ofConnection(vendorKeys, of)),
    endpoint: db.delete(vendorEndpoints).where(ofConnection(vendorEndpoints, of)),
    diagnoses: diagnosesForgotten(db, { project_id: projectId, id }),
    removed: removedForgotten(db, { project_id: projectId, id }),
    backfill: db.delete(backfills).where(ofConnection(backfills, of)),
    // Its events stay, and so do the muted causes of those that failed.
    mutes: db.delete(causeMutes).where(and(ofConnection(causeMutes, of), eq(causeMutes.kind, 'refused'))),
    hours: db.delete(connectionHours).where(ofConnection(connectionHours, of)),
    ...formatsForgotten(db, of),
  })
  if (changed.length === 0) throw notFound('Connection')
}

/** The `version` after a change that ingest depends on. */
export const nextVersion = sql`${connections.version} + 1`

/** The project's connection with this id, unless it was deleted. */
export function liveConnections(projectId: string, id: string) {
  return and(eq(connections.id, id), eq(connections.project_id, projectId), isNull(connections.deleted_at))
}

/** An entry of the audit log about a connection. */
export const inboxConnectionEntry = entriesOf('connection')

function selectConnections(db: Db, condition: SQL | undefined) {
  // In a select of one table, Drizzle strips the table's name from columns outside conditions: hence the `eq`.
  const newest = sql`SELECT max(${events.id}) FROM ${events} INDEXED BY events_connection
    WHERE ${and(eq(events.connection_id, connections.id), isDelivered(events.id))}`
  return db
    .select({ ...getTableColumns(connections), last_event_id: sql<string | null>`(${newest})`.as('last_event_id') })
    .from(connections)
    .where(condition)
}
