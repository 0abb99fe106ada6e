import { sql } from 'drizzle-orm'
import { check, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Whether the vendor still knows a key. */
export const VENDOR_KEY_STATES = ['ok', 'refused'] as const

/** What a key may do with a kind of objects, as it was when it was set. */
export type Permissions = Record<string, 'ok' | 'refused'>

/** The keys with which the service reads the API of a connection's vendor: at most one of each connection. */
export const vendorKeys = sqliteTable(
  'vendor_keys',
  {
    project_id: text().notNull(),
    connection_id: text().notNull(),
    /** The key, sealed: under which encryption key, and its box. */
    key: integer().notNull(),
    box: text().notNull(),
    /** Its last characters. */
    hint: text().notNull(),
    livemode: integer({ mode: 'boolean' }).notNull(),
    /** `same` if the account has something that the connection has received; null if nothing could be compared. */
    account: text({ enum: ['same'] }),
    permissions: text({ mode: 'json' }).$type<Permissions>().notNull(),
    state: text({ enum: VENDOR_KEY_STATES }).notNull(),
    /** The id of the user or API key. */
    added_by: text().notNull(),
    /** When it was last tried (ms). */
    checked_at: integer().notNull(),
    created_at: integer().notNull(),
    /** Until when the vendor wants to be left alone (ms). */
    not_before: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.connection_id] }),
    check('vendor_keys_state', sql`${t.state} IN ('ok', 'refused')`),
  ],
)
