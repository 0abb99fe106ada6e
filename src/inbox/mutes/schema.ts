import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What a muted cause is a cause of: events that fail, or deliveries that are refused. */
export const MUTED_KINDS = ['failed', 'refused'] as const
export type MutedKind = (typeof MUTED_KINDS)[number]

/** What is stored as the code of events, and stands in the address of their cause, if they have none. */
export const NO_CODE = 'none'

/** Causes that nobody wants to be reminded of for a time. They are still counted and listed. */
export const causeMutes = sqliteTable(
  'cause_mutes',
  {
    project_id: text().notNull(),
    connection_id: text().notNull(),
    kind: text({ enum: MUTED_KINDS }).notNull(),
    /** The `last_error_code` of the events, or the code that refuses the deliveries. */
    code: text().notNull(),
    /** When it ends (ms); null if somebody has to end it. */
    until: integer(),
    muted_at: integer().notNull(),
    /** The id of the user or API key. */
    muted_by: text().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.connection_id, t.kind, t.code] }),
    index('cause_mutes_until').on(t.until).where(sql`until IS NOT NULL`),
  ],
)
