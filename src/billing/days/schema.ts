import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { CHUNK_ROWS } from '../../db/limits'
import { type Parts, partOf } from '../../db/parts'

/**
 * The subscriptions of a project on one UTC day, in live or in test mode. The first four are the numbers of subscriptions as the cron's last
 * walk of the day found them. The others are what happened on that day by the vendor's times, which the walks of that day
 * and of the next one count.
 */
export const billingDays = sqliteTable(
  'billing_days',
  {
    project_id: text().notNull(),
    livemode: integer().notNull(),
    /** Days since 1970, in UTC. */
    day: integer().notNull(),
    active: integer().notNull(),
    trialing: integer().notNull(),
    past_due: integer().notNull(),
    /** Those of the three whose customer is linked to no consumer, although nobody said that it has none; null for days before this was counted. */
    unlinked: integer(),
    /** Subscriptions that were created, without those whose first payment is missing. */
    created: integer().notNull(),
    /** Subscriptions that are canceled and ended on this day. */
    lost: integer().notNull(),
    /** Subscriptions that became past due. */
    failed: integer().notNull(),
    /** When the last walk that counted the statuses had read all subscriptions of the project. */
    counted_at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.livemode, t.day] })],
)

/** What a purged project leaves here. */
export const DAYS_PARTS: Parts = {
  billing_days: partOf(billingDays, [billingDays.project_id, billingDays.livemode, billingDays.day], CHUNK_ROWS),
}
