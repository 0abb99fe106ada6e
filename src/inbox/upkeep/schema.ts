import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What the deployment remembers of itself: when the sweep last ran, which key seals every secret. */
export const state = sqliteTable('state', { name: text().primaryKey(), value: integer().notNull() })
