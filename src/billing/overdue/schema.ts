import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { CHUNK_ROWS } from '../../db/limits'
import { type Parts, partOf } from '../../db/parts'

/** Subscriptions that should have renewed, and about which nothing has been received since, as the cron's last walk found them. */
export const overdueSubscriptions = sqliteTable(
  'overdue_subscriptions',
  {
    project_id: text().notNull(),
    vendor: text().notNull(),
    vendor_id: text().notNull(),
    /** The end of the subscription's period. Nothing has been received since. */
    period_end: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.vendor, t.vendor_id] })],
)

/**
 * How many subscriptions of a vendor were to renew in the week before the cron's last walk (`due`), and how many of these are overdue.
 * The next walk counts in columns of its own until it is done. `walk`: which one counted last.
 */
export const renewalCounts = sqliteTable(
  'renewal_counts',
  {
    project_id: text().notNull(),
    vendor: text().notNull(),
    due: integer().notNull().default(0),
    overdue: integer().notNull().default(0),
    walk: integer().notNull(),
    next_due: integer().notNull(),
    next_overdue: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.vendor] })],
)

/** What a purged project leaves here. */
export const OVERDUE_PARTS: Parts = {
  overdue_subscriptions: partOf(
    overdueSubscriptions,
    [overdueSubscriptions.project_id, overdueSubscriptions.vendor, overdueSubscriptions.vendor_id],
    CHUNK_ROWS,
  ),
  renewal_counts: partOf(renewalCounts, [renewalCounts.project_id, renewalCounts.vendor], CHUNK_ROWS),
}
