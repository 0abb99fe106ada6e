import { type SQL, sql } from 'drizzle-orm'
import { audit, type Change } from '../../audit/store'
import type { Db } from '../../db/client'
import { old } from '../../db/old'
import { Fault } from '../../lib/fault'
import { MINUTE } from '../../lib/time'
import { events } from '../schema'
import { connections } from './schema'
import type { Sealed } from './seal'

/** Connections a project may have, and live signing secrets a connection may have. */
export const MAX_CONNECTIONS = 50
export const MAX_SECRETS = 5
/** A secret's last use is written at most this often. */
export const SECRET_USED_EVERY = MINUTE

/** A signing secret as stored: sealed, with the last four characters to tell it by. */
export type StoredSecret = Sealed & { id: string; hint: string; created_at: number }
type Stored = typeof connections.$inferSelect
export type Connection = Omit<Stored, 'secrets' | 'secrets_used'> & {
  secrets: StoredSecret[]
  /** Secret id → when it last verified a delivery (ms). */
  secrets_used: Record<string, number>
}
/** With the id of the newest recorded event, whose time is when the connection last received one. */
export type ConnectionRow = Connection & { last_event_id: string | null }

/** What a sealed secret is bound to. */
export function sealContext(projectId: string, connectionId: string, secretId: string): string {
  return `${projectId}:${connectionId}:${secretId}`
}

const columns = sql`c.*, (SELECT max(e.id) FROM ${events} e INDEXED BY events_connection WHERE e.connection_id = c.id) AS last_event_id`

/** A connection by its id alone, as ingest knows it. @returns null where there is none, or it was deleted */
export async function findConnection(db: Db, id: string): Promise<Connection | null> {
  const row = await old(db).first(sql<Stored>`SELECT * FROM ${connections} WHERE id = ${id} AND deleted_at IS NULL`)
  return row && parsed(row)
}

export async function readConnection(db: Db, projectId: string, id: string): Promise<ConnectionRow> {
  const row = await old(db).first(selectOne(projectId, id))
  if (!row) throw notFound()
  return parsed(row)
}

export async function listConnections(
  db: Db,
  projectId: string,
  before: string | null,
  limit: number,
): Promise<ConnectionRow[]> {
  const rows = await old(db).all(
    sql<Stored & { last_event_id: string | null }>`SELECT ${columns} FROM ${connections} c
      WHERE c.project_id = ${projectId} AND c.deleted_at IS NULL AND c.id < ${before ?? '~'}
      ORDER BY c.id DESC LIMIT ${limit}`,
  )
  return rows.map(parsed)
}

/** @throws {Fault} `connection_limit_reached` */
export async function insertConnection(
  db: Db,
  connection: { id: string; project_id: string; vendor: string; name: string; livemode: boolean; secret: StoredSecret },
  change: Change,
): Promise<ConnectionRow> {
  const { id, project_id, vendor, name, livemode, secret } = connection
  const [, , row] = await old(db).batch([
    sql`INSERT INTO ${connections} (id, project_id, vendor, name, livemode, secrets, created_at)
      SELECT ${id}, ${project_id}, ${vendor}, ${name}, ${livemode ? 1 : 0}, ${JSON.stringify([secret])}, ${change.now}
      WHERE (SELECT count(*) FROM ${connections} WHERE project_id = ${project_id} AND deleted_at IS NULL) < ${MAX_CONNECTIONS}`,
    auditConnection(project_id, id, 'connection.created', change, { vendor, name }),
    selectOne(project_id, id),
  ])
  if (!row.rows[0]) {
    throw new Fault(
      'connection_limit_reached',
      `A project has at most ${MAX_CONNECTIONS} connections: delete one first.`,
    )
  }
  return parsed(row.rows[0])
}

/** Changes a connection; `version` moves, so that ingest decides again. @throws {Fault} `not_found` */
export function updateConnection(
  db: Db,
  projectId: string,
  id: string,
  changes: { name?: string | undefined; status?: 'active' | 'disabled' | undefined; livemode?: boolean | undefined },
  change: Change,
): Promise<ConnectionRow> {
  return mutate(db, projectId, id, 'connection.updated', change, changes, {
    set: sql`name = coalesce(${changes.name ?? null}, name), status = coalesce(${changes.status ?? null}, status),
      livemode = coalesce(${changes.livemode ?? null}, livemode)`,
    where: sql`true`,
  })
}

/** Ends a connection and forgets its secrets; its events stay. @throws {Fault} `not_found` */
export async function deleteConnection(db: Db, projectId: string, id: string, change: Change): Promise<void> {
  const [updated] = await old(db).batch([
    sql<{ id: string }>`UPDATE ${connections} SET deleted_at = ${change.now}, secrets = '[]', version = version + 1
      WHERE id = ${id} AND project_id = ${projectId} AND deleted_at IS NULL RETURNING id`,
    auditConnection(projectId, id, 'connection.deleted', change),
  ])
  if (updated.rows.length === 0) throw notFound()
}

/**
 * Adds a secret to a connection that is as it was read.
 *
 * @returns null where it changed meanwhile: read again, decide again
 * @throws {Fault} `not_found`, `secret_limit_reached`
 */
export async function addSecret(
  db: Db,
  { project_id, id, version }: Pick<Connection, 'project_id' | 'id' | 'version'>,
  secret: StoredSecret,
  change: Change,
): Promise<ConnectionRow | null> {
  const row = await mutate(
    db,
    project_id,
    id,
    'connection.secret_added',
    change,
    { secret_id: secret.id },
    {
      set: sql`secrets = json_insert(secrets, '$[#]', json(${JSON.stringify(secret)}))`,
      where: sql`version = ${version} AND json_array_length(secrets) < ${MAX_SECRETS}`,
    },
  )
  if (row.secrets.some(({ id: known }) => known === secret.id)) return row
  if (row.secrets.length < MAX_SECRETS) return null
  throw new Fault('secret_limit_reached', `A connection has at most ${MAX_SECRETS} live secrets: remove one first.`)
}

/** Removes a signing secret: it stops working at once. @throws {Fault} `not_found` */
export async function removeSecret(
  db: Db,
  projectId: string,
  id: string,
  secretId: string,
  change: Change,
): Promise<void> {
  const remove = sql`UPDATE ${connections} SET version = version + 1,
      secrets = (SELECT json_group_array(json(value)) FROM json_each(secrets) WHERE value->>'id' <> ${secretId})
    WHERE id = ${id} AND project_id = ${projectId} AND deleted_at IS NULL
      AND EXISTS (SELECT 1 FROM json_each(secrets) WHERE value->>'id' = ${secretId}) RETURNING id`
  const [removed] = await old(db).batch([
    remove,
    auditConnection(projectId, id, 'connection.secret_removed', change, { secret_id: secretId }),
  ])
  if (removed.rows.length === 0) throw new Fault('not_found', 'No connection of this project has this secret.')
}

/** Notes that a secret verified a delivery. `version` stays: ingest need not decide again. */
export async function touchSecret(db: Db, id: string, secretId: string, now: number): Promise<void> {
  const path = `$.${secretId}`
  await old(
    db,
  ).all(sql`UPDATE ${connections} SET secrets_used = json_set(secrets_used, ${path}, CAST(${now} AS INTEGER))
    WHERE id = ${id} AND coalesce(secrets_used->>${path}, 0) <= ${now - SECRET_USED_EVERY}`)
}

/** Connections with a secret sealed under another key than this one, in the order of their ids. */
export async function findSealedOtherwise(db: Db, key: number, after: string, limit: number): Promise<Connection[]> {
  const rows = await old(db).all(sql<Stored>`SELECT * FROM ${connections} WHERE id > ${after} AND deleted_at IS NULL
    AND EXISTS (SELECT 1 FROM json_each(secrets) WHERE value->>'key' <> ${key}) ORDER BY id LIMIT ${limit}`)
  return rows.map(parsed)
}

/** How many of a project's secrets are sealed under another key than this one. */
export async function countSealedOtherwise(db: Db, projectId: string, key: number): Promise<number> {
  const row = await old(db).first(sql<{
    n: number
  }>`SELECT count(*) AS n FROM ${connections} c CROSS JOIN json_each(c.secrets) s
    WHERE c.project_id = ${projectId} AND c.deleted_at IS NULL AND s.value->>'key' <> ${key}`)
  return row?.n ?? 0
}

/** Puts the same secrets, sealed anew, in the place of those of this version; a newer version is left alone. */
export async function replaceSecrets(
  db: Db,
  id: string,
  version: number,
  secrets: readonly StoredSecret[],
): Promise<void> {
  await old(db).all(
    sql`UPDATE ${connections} SET secrets = ${JSON.stringify(secrets)} WHERE id = ${id} AND version = ${version}`,
  )
}

async function mutate(
  db: Db,
  projectId: string,
  id: string,
  action: string,
  change: Change,
  details: Record<string, unknown>,
  { set, where }: { set: SQL; where: SQL },
): Promise<ConnectionRow> {
  const [, , row] = await old(db).batch([
    sql`UPDATE ${connections} SET ${set}, version = version + 1
      WHERE id = ${id} AND project_id = ${projectId} AND deleted_at IS NULL AND ${where}`,
    auditConnection(projectId, id, action, change, details),
    selectOne(projectId, id),
  ])
  if (!row.rows[0]) throw notFound()
  return parsed(row.rows[0])
}

function selectOne(projectId: string, id: string) {
  return sql<Stored & { last_event_id: string | null }>`SELECT ${columns} FROM ${connections} c
    WHERE c.id = ${id} AND c.project_id = ${projectId} AND c.deleted_at IS NULL`
}

function auditConnection(
  projectId: string,
  id: string,
  action: string,
  change: Change,
  details?: Record<string, unknown>,
) {
  return audit({ project_id: projectId, action, object_type: 'connection', object_id: id, details }, change)
}

function parsed<T extends Stored>(row: T) {
  return {
    ...row,
    secrets: JSON.parse(row.secrets) as StoredSecret[],
    secrets_used: JSON.parse(row.secrets_used) as Record<string, number>,
  }
}

function notFound(): Fault {
  return new Fault('not_found', 'No connection of this project has this id.')
}
