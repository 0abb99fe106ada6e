import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/** The states of a device. A revoked one stays revoked. */
export const DEVICE_STATES = ['active', 'revoked'] as const
export type DeviceState = (typeof DEVICE_STATES)[number]
export const PLATFORMS = ['ios', 'android', 'web', 'desktop', 'server', 'other'] as const

/** The installations of a project's product from which its consumers connect. */
export const devices = sqliteTable(
  'devices',
  {
    project_id: text().notNull(),
    /** SHA-256 of the current token, in hex. */
    token_hash: text().notNull(),
    id: text().notNull(),
    consumer_id: text().notNull(),
    /** The app's own id of this installation. */
    installation_id: text().notNull(),
    platform: text({ enum: PLATFORMS }).notNull(),
    name: text(),
    model: text(),
    os_version: text(),
    app_version: text(),
    state: text({ enum: DEVICE_STATES }).notNull(),
    /** When the device was last registered or verified (ms), to the hour. */
    last_seen_at: integer().notNull(),
    created_at: integer().notNull(),
    revoked_at: integer(),
  },
  (t) => [
    // By the token, which every verification looks up. So a registration writes three rows, and not four.
    primaryKey({ columns: [t.project_id, t.token_hash] }),
    uniqueIndex('devices_installation').on(t.project_id, t.consumer_id, t.installation_id),
    // By state before id, so that counting the active devices reads no revoked one.
    index('devices_consumer').on(t.project_id, t.consumer_id, t.state, t.id),
    check('devices_revoked_at', sql`(${t.state} = 'revoked') = (${t.revoked_at} IS NOT NULL)`),
  ],
)
