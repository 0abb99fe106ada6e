import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'

/** What the team of a project is told of. */
export const NOTICE_KINDS = [
  'key_exposed',
  'key_expiring',
  'connection_degraded',
  'events_failing',
  'connection_silent',
  'renewals_missing',
  'format_changed',
  'endpoint_failing',
  'endpoint_disabling',
  'endpoint_disabled',
] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]

/** What is known of the matter, for the words of the email and the console; never a secret. */
export type NoticeFacts = Record<string, string | number | boolean | null>

/** A matter that needs somebody: one row for each kind and object, which is opened again if the matter comes back. */
export const notices = sqliteTable(
  'notices',
  {
    project_id: text().notNull(),
    /** A new one each time that it is opened, so that lists are in the order of `opened_at`. */
    id: text().notNull(),
    kind: text({ enum: NOTICE_KINDS }).notNull(),
    object_id: text().notNull(),
    facts: text({ mode: 'json' }).$type<NoticeFacts>().notNull(),
    opened_at: integer().notNull(),
    /** When the matter was over (ms); null while it is open. */
    closed_at: integer(),
    /** When the email is due (ms); null if it was sent, given up, or is not to be sent. */
    mail_due_at: integer(),
    /** When the last email was sent (ms). */
    mailed_at: integer(),
    /** Attempts to send the email. */
    tries: integer().notNull().default(0),
    /** The users who are still to get the email, because the last attempt did not reach them. Null: all who want it. */
    mail_left: text({ mode: 'json' }).$type<string[]>(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.id] }),
    uniqueIndex('notices_object').on(t.project_id, t.kind, t.object_id),
    index('notices_open').on(t.project_id, t.id).where(sql`closed_at IS NULL`),
    index('notices_closed').on(t.closed_at).where(sql`closed_at IS NOT NULL`),
    index('notices_due').on(t.mail_due_at).where(sql`mail_due_at IS NOT NULL`),
  ],
)

/** What a purged project leaves here. */
export const NOTICE_PARTS: Parts = {
  notices: partOf(notices, [notices.project_id, notices.id], CHUNK_ROWS),
}
