import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** When a connection in live mode receives deliveries, as the cron sees it hour by hour. The columns of the state: see `Quiet` in quiet.ts. */
export const connectionHours = sqliteTable(
  'connection_hours',
  {
    project_id: text().notNull(),
    connection_id: text().notNull(),
    hour: integer().notNull(),
    seen: integer().notNull(),
    hours: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    longest: text({ mode: 'json' }).$type<readonly number[]>().notNull(),
    gap: integer().notNull(),
    surprise: integer().notNull(),
    /** Since when (ms, in whole hours) the connection has been silent; null if it is not. */
    silent_since: integer(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.connection_id] })],
)
