import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { CHUNK_OBJECTS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'

/**
 * What the feed has told of a consumer's entitlements. Only a consumer that is allowed something, or could be by time or by a change of
 * the catalog or the settings, has a row.
 */
export const entitlementStates = sqliteTable(
  'entitlement_states',
  {
    project_id: text().notNull(),
    consumer_id: text().notNull(),
    /** The values of the features that it is allowed, by their keys. */
    features: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    /** When it may change by itself (ms), by the database's clock: then it is looked at again. Null: no such time is known. */
    due_at: integer(),
    /** The version of the watcher that wrote it. So it goes up also for a consumer that had no row in between. */
    revision: integer().notNull(),
    /** Since when it is not looked at (ms), because it has too much for one call; null: it is. */
    skipped_at: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.consumer_id] }),
    index('entitlement_states_due').on(t.project_id, t.due_at).where(sql`due_at IS NOT NULL`),
    index('entitlement_states_skipped').on(t.project_id, t.consumer_id).where(sql`skipped_at IS NOT NULL`),
  ],
)

/** What a purged project leaves here. */
export const WATCH_PARTS: Parts = {
  entitlement_states: partOf(
    entitlementStates,
    [entitlementStates.project_id, entitlementStates.consumer_id],
    CHUNK_OBJECTS,
  ),
}
