import { and, desc, eq, isNull, lte, type SQLWrapper, sql } from 'drizzle-orm'
import { type AuditEntry, audited, type Change } from '../../audit/store'
import { batch, type Db, run } from '../../db/client'
import { hasItem, withItem, withoutItem } from '../../db/list-column'
import { json } from '../../db/sql'
import { keptWith } from '../../idempotency/claim'
import { Fault, requireFound } from '../../lib/fault'
import { removedDropped, removedKept, removedTrimmed } from '../diagnoses/removed'
import {
  type Connection,
  type ConnectionRow,
  findConnection,
  inboxConnectionEntry,
  liveConnections,
  nextVersion,
} from './connection'
import { MAX_SECRETS, SECRET_USED_EVERY } from './limits'
import { connections, type StoredSecret } from './schema'

/**
 * Adds a secret to a connection, if the connection has not changed since it was read.
 *
 * @param added.entry of the audit log, if not only a secret is added
 * @returns null if the connection has changed meanwhile: read it again and decide again
 * @throws {Fault} `not_found`, `secret_limit_reached`
 */
export async function addSecret(
  db: Db,
  { project_id, id, version }: Pick<Connection, 'project_id' | 'id' | 'version'>,
  { secret, entry }: { secret: StoredSecret; entry?: AuditEntry },
  change: Change,
): Promise<ConnectionRow | null> {
  const asRead = eq(connections.version, version)
  const room = sql`json_array_length(${connections.secrets}) < ${MAX_SECRETS}`
  const added = db
    .update(connections)
    .set({ secrets: withItem(connections.secrets, secret), version: nextVersion })
    .where(and(liveConnections(project_id, id), asRead, room))
  const { rows } = await batch(db, {
    ...audited(
      db,
      change,
      entry ?? inboxConnectionEntry(project_id, id, 'connection.secret_added', { secret_id: secret.id }),
      added,
    ),
    ...keptWith(db, change, id),
    rows: findConnection(db, project_id, id),
  })
  const row = requireFound(rows, 'Connection')
  if (row.secrets.some(({ id: known }) => known === secret.id)) return row
  if (row.secrets.length < MAX_SECRETS) return null
  throw secretLimitReached()
}

export function secretLimitReached(): Fault {
  return new Fault('secret_limit_reached', `A connection can have ${MAX_SECRETS} signing secrets. Remove one first.`)
}

/**
 * Removes a signing secret: it stops working at once. It is kept for a while, encrypted, to tell what was signed with it.
 *
 * @param removal `forget`: it is not kept, also if it was removed before
 * @throws {Fault} `not_found`
 */
export async function removeSecret(
  db: Db,
  connection: { project_id: string; id: string },
  { secret_id, forget }: { secret_id: string; forget: boolean },
  change: Change,
): Promise<void> {
  const { project_id, id } = connection
  const of = liveConnections(project_id, id)
  const removed = db
    .update(connections)
    .set({ secrets: withoutItem(connections.secrets, secret_id), version: nextVersion })
    .where(and(of, hasItem(connections.secrets, secret_id)))
    .returning({ id: connections.id })
  const about = inboxConnectionEntry(project_id, id, 'connection.secret_removed', { secret_id })
  const entry = audited(db, change, about, removed)
  if (forget) {
    const { changed, dropped } = await batch(db, { dropped: removedDropped(db, connection, secret_id), ...entry })
    requireFound([...changed, ...dropped], 'Signing secret', 'on this connection')
    return
  }
  const kept = removedKept(db, of, secret_id, change.now)
  const { changed } = await batch(db, { kept, ...entry, trimmed: removedTrimmed(db, connection) })
  requireFound(changed, 'Signing secret', 'on this connection')
}

/** A connection, and the signing secrets in it that certain API keys added. */
export type AddedSecrets = Awaited<ReturnType<typeof findSecretsAddedBy>>[number]

/** Reads the project's connections with signing secrets that these API keys added. @param keys selects their ids */
export function findSecretsAddedBy(db: Db, projectId: string, keys: SQLWrapper) {
  const secrets = sql`(SELECT json_group_array(json_object('id', value->>'id', 'hint', value->>'hint'))
    FROM json_each(${connections.secrets}) WHERE value->>'added_by' IN ${keys})`
  const has = sql`EXISTS (SELECT 1 FROM json_each(${connections.secrets}) WHERE value->>'added_by' IN ${keys})`
  return db
    .select({
      id: connections.id,
      name: connections.name,
      secrets: json<Pick<StoredSecret, 'id' | 'hint'>[]>(secrets).as('added'),
    })
    .from(connections)
    .where(and(eq(connections.project_id, projectId), isNull(connections.deleted_at), has))
    .orderBy(desc(connections.id))
}

/** Records that a secret verified a delivery. `version` stays: ingest need not decide again. */
export async function touchSecret(db: Db, id: string, secretId: string, now: number): Promise<void> {
  const path = `$.${secretId}`
  const used = sql`coalesce(${connections.secrets_used}->>${path}, 0)`
  const touched = db
    .update(connections)
    .set({ secrets_used: sql`json_set(${connections.secrets_used}, ${path}, CAST(${now} AS INTEGER))` })
    .where(and(eq(connections.id, id), lte(used, now - SECRET_USED_EVERY)))
  await run(db, touched)
}

/** Reads the newest connections with a secret, or with one that is sealed under this key. */
export function findSealed(db: Db, key: number | null, limit: number) {
  const isUnder = key === null ? undefined : sql`WHERE value->>'key' = ${key}`
  const has = sql`EXISTS (SELECT 1 FROM json_each(${connections.secrets}) ${isUnder})`
  return db
    .select({ id: connections.id, project_id: connections.project_id, secrets: connections.secrets })
    .from(connections)
    .where(and(isNull(connections.deleted_at), has))
    .orderBy(desc(connections.id))
    .limit(limit)
}
