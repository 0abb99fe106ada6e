import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What the cron last saw of each store. In the directory. */
export const stores = sqliteTable('stores', {
  number: integer().primaryKey(),
  /** Milliseconds since the epoch, like the other times. */
  first_seen_at: integer().notNull(),
  /** When it last answered; 0 if it never has. */
  seen_at: integer().notNull().default(0),
  /** What failed at the last visit; null if nothing did. */
  error: text(),
  size_bytes: integer(),
  /** The newest migration that was applied to it. */
  migration: text(),
  /** Whether an operator has closed it to new projects. */
  closed: integer({ mode: 'boolean' }).notNull().default(false),
})
