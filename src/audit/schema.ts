import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'

/** Who changed which object. The id holds the time. */
export const auditLog = sqliteTable(
  'audit_log',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    actor_type: text({ enum: ['user', 'api_key', 'system'] }).notNull(),
    actor_id: text().notNull(),
    action: text().notNull(),
    object_type: text().notNull(),
    object_id: text().notNull(),
    /** Our own id of the request. Rows from before `client_request_id` have the caller's here, if it sent one. */
    request_id: text().notNull(),
    /** The id that the caller gave the request. */
    client_request_id: text(),
    /** The details of the change; never a secret. */
    details: text({ mode: 'json' }).$type<Record<string, unknown>>(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.id] })],
)

/**
 * What a project has changed in the directory on the day of its last change there. The trigger `audit_log_counted` counts each
 * entry where it is written, and refuses it beyond `DAILY_ENTRIES` and its neighbours (src/http/limits.ts). `day`: days since the
 * epoch.
 */
export const directoryChanges = sqliteTable('directory_changes', {
  project_id: text().primaryKey(),
  day: integer().notNull(),
  entries: integer().notNull(),
  bytes: integer().notNull(),
  /** What API keys have of both. They have a smaller share, so that people can always go on. */
  key_entries: integer().notNull().default(0),
  key_bytes: integer().notNull().default(0),
})

/** What a purged project leaves here. */
export const AUDIT_PARTS: Parts = {
  directory_changes: partOf(directoryChanges, [directoryChanges.project_id], CHUNK_ROWS),
  audit_log: partOf(auditLog, [auditLog.project_id, auditLog.id], CHUNK_ROWS),
}
