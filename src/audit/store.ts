import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/client'
import { auditLog } from '../db/schema'
import { newId } from '../lib/ids'

/** Who did what to which object. `details` says what changed and never holds a secret. */
export type AuditEntry = {
  project_id: string
  action: string
  object_type: string
  object_id: string
  details?: Record<string, unknown> | undefined
}
/** By whom, in which request and when (ms) a change is made. */
export type Change = { actor: { type: 'user' | 'api_key' | 'system'; id: string }; request_id: string; now: number }
export type AuditRow = typeof auditLog.$inferSelect

/**
 * The statement that writes an audit row, if the statement right before it in the batch changed anything: a refused
 * mutation leaves no trace of having happened.
 */
export function audit(entry: AuditEntry, { actor, request_id, now }: Change): SQL {
  const { project_id, action, object_type, object_id, details } = entry
  return sql`INSERT INTO ${auditLog} (project_id, id, actor_type, actor_id, action, object_type, object_id, request_id, details)
    SELECT ${project_id}, ${newId('aud', now)}, ${actor.type}, ${actor.id}, ${action}, ${object_type}, ${object_id},
      ${request_id}, ${details ? JSON.stringify(details) : null}
    WHERE changes() > 0`
}

/** A project's audit rows, newest first, from before the row `before`. */
export function listAudit(db: Db, projectId: string, before: string | null, limit: number): Promise<AuditRow[]> {
  return db.all(sql<AuditRow>`SELECT * FROM ${auditLog}
    WHERE project_id = ${projectId} AND id < ${before ?? '~'} ORDER BY id DESC LIMIT ${limit}`)
}
