import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Sealed } from '../../lib/seal'
import type { Verification } from '../../vendors/verification'

/**
 * A signing secret as stored: sealed, with a hint (its last characters) for people to recognize it by. `added_by`: the id
 * of the user or API key; earlier versions did not keep it.
 */
export type StoredSecret = Sealed & { id: string; hint: string; created_at: number; added_by?: string }

/** `paused`: deliveries are recorded, and their events are not processed. `disabled`: deliveries are refused. */
export const CONNECTION_STATUSES = ['active', 'paused', 'disabled'] as const

/** Where a billing vendor sends its events. `version` grows with every change that ingest depends on. */
export const connections = sqliteTable(
  'connections',
  {
    id: text().primaryKey(),
    project_id: text().notNull(),
    vendor: text().notNull(),
    name: text().notNull(),
    livemode: integer({ mode: 'boolean' }).notNull().default(true),
    status: text({ enum: CONNECTION_STATUSES }).notNull().default('active'),
    version: integer().notNull().default(1),
    /** The live signing secrets, each encrypted under ENCRYPTION_KEY_<key>. */
    secrets: text({ mode: 'json' }).$type<StoredSecret[]>().notNull(),
    /** Secret id → when it last verified a delivery (ms); written at most once a minute for each secret. */
    secrets_used: text({ mode: 'json' }).$type<Record<string, number>>().notNull().default({}),
    /** How deliveries are verified and read; null for a vendor that is known, and before it is set. */
    verification: text({ mode: 'json' }).$type<Verification>(),
    /** Whether the ids of the vendor's customers are external ids of consumers. */
    customer_is_external_id: integer({ mode: 'boolean' }).notNull().default(false),
    created_at: integer().notNull(),
    deleted_at: integer(),
    /** Since when it is paused (ms); null unless it is. */
    paused_at: integer(),
    /** `due_at` of the events that it holds. Set by a pause, and removed once it is resumed and all of them are released. See ../held.ts. */
    held_as: integer(),
  },
  (t) => [
    index('connections_project').on(t.project_id, t.id),
    // Most connections hold nothing: to find that out, a claim reads no row.
    index('connections_held').on(t.project_id, t.id, t.status).where(sql`held_as IS NOT NULL`),
    index('connections_releasing').on(t.id).where(sql`held_as IS NOT NULL AND status <> 'paused'`),
  ],
)
