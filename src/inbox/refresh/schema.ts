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
    /** When an answer of the vendor's was last applied (ms); null if none was. */
    done_at: integer(),
    /** How that ended: whether it was the whole answer. */
    ended: text({ enum: ['fresh', 'partial'] }),
    /** When the row was last used (ms). */
    used_at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.vendor, t.kind, t.object_id] })],
)
