import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Objects for which the vendor is, or was lately, asked. Only the worker with the lease asks, so that there is one answer at a time. */
export const vendorAsks = sqliteTable(
  'vendor_asks',
  {
    project_id: text().notNull(),
    vendor: text().notNull(),
    kind: text({ enum: ['customer'] }).notNull(),
    object_id: text().notNull(),
    lease_token: text(),
    /** Until when (ms) the worker with the token may ask; 0 if nobody does. */
    lease_until: integer().notNull().default(0),
    /** When the vendor last answered, and all of the answer was applied (ms); null if it never was. */
    done_at: integer(),
    /** When the row was last used (ms). */
    used_at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.vendor, t.kind, t.object_id] })],
)
