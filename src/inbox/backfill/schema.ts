import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Why a look at a vendor's events has not finished. `permission_missing`: the key may not read events. */
export const BACKFILL_ERRORS = [
  'vendor_unavailable',
  'vendor_refused',
  'api_key_refused',
  'permission_missing',
  'encryption_key_unavailable',
  'database_filling',
] as const
export type BackfillError = (typeof BACKFILL_ERRORS)[number]

/** A period (ms) that could not be checked, because the vendor no longer has its events. `to` is exclusive. */
export type Gap = { from: number; to: number }

/** For each connection with an API key: how far the vendor's list of events has been compared with what was received. */
export const backfills = sqliteTable(
  'backfills',
  {
    project_id: text().notNull(),
    connection_id: text().notNull(),
    /** Up to when (ms, exclusive) all events are known; null before the first look is done. */
    checked_until: integer(),
    /** The look that is under way: from and until when (ms). Null if none is. */
    looks_from: integer(),
    looks_until: integer(),
    /** The event after which its next page begins; null: the first page. */
    cursor: text(),
    /** Events that were not delivered, by the day of the look (UTC). */
    missed: text({ mode: 'json' }).$type<Record<string, number>>().notNull().default({}),
    gaps: text({ mode: 'json' }).$type<Gap[]>().notNull().default([]),
    error: text({ enum: BACKFILL_ERRORS }),
    /** When the next look, or its next page, is due (ms); null until the key works again. */
    due_at: integer(),
    /** Only the worker with the token goes on. */
    lease_token: text(),
    lease_until: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.connection_id] }),
    index('backfills_due').on(t.due_at).where(sql`due_at IS NOT NULL`),
  ],
)
