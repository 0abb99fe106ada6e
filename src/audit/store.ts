import { and, desc, eq, lt, sql } from 'drizzle-orm'
import type { Db, Query } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { newId } from '../lib/ids'
import { auditLog } from './schema'

/** One change to one object. `details` describes it and never holds a secret. */
export type AuditEntry = {
  project_id: string
  action: string
  object_type: string
  object_id: string
  details?: Record<string, unknown> | undefined
}
/** The author, request and time (ms) of a change. `client_request_id`: the id that the caller gave the request, if any. */
export type Change = {
  actor: { type: 'user' | 'api_key' | 'system'; id: string }
  request_id: string
  client_request_id?: string | null
  now: number
}
export type AuditRow = typeof auditLog.$inferSelect

/**
 * A mutation and its audit row, for one batch: `batch(db, { ...audited(db, change, entry, mutation), … })`. The audit
 * row is written only if the mutation changed a row.
 *
 * @returns the mutation as `changed`, directly followed by `audit`, because SQLite's `changes()` counts the previous
 *   statement
 */
export function audited<Q extends Query>(db: Db, change: Change, entry: AuditEntry, mutation: Q) {
  const { actor, request_id, client_request_id = null, now } = change
  const { project_id, action, object_type, object_id, details = null } = entry
  const row = {
    project_id,
    id: newId('aud', now),
    actor_type: actor.type,
    actor_id: actor.id,
    action,
    object_type,
    object_id,
    request_id,
    client_request_id,
    details,
  }
  const audit = insertWhere(db, auditLog, row, sql`changes() > 0`)
  return { changed: mutation, audit }
}

/** Reads a project's audit rows, newest first, starting after the row `before`. */
export function listAudit(db: Db, projectId: string, before: string | null, limit: number) {
  return db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.project_id, projectId), before === null ? undefined : lt(auditLog.id, before)))
    .orderBy(desc(auditLog.id))
    .limit(limit)
}
