import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { KINDS } from '../../lib/billing-kinds'

/** Objects in doubt, which the vendor is to be asked for. An object that is no longer in doubt has no row. */
export const vendorDoubts = sqliteTable(
  'vendor_doubts',
  {
    project_id: text().notNull(),
    vendor: text().notNull(),
    kind: text({ enum: KINDS }).notNull(),
    object_id: text().notNull(),
    /** When the vendor is asked next (ms). */
    due_at: integer().notNull(),
    /** How often it was asked since the object came into doubt. */
    tries: integer().notNull().default(0),
    /** Only the worker with the token asks. */
    lease_token: text(),
    /** Until when (ms) it may; 0 if nobody does. */
    lease_until: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.vendor, t.kind, t.object_id] }),
    index('vendor_doubts_due').on(t.project_id, t.due_at),
  ],
)
