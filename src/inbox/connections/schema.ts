import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Sealed } from '../../lib/seal'
import type { Verification } from '../../vendors/verification'

/**
 * A signing secret as stored: sealed, with a hint (its last characters) for people to recognize it by. `added_by`: the id
 * of the user or API key; earlier versions did not keep it.
 */
export type StoredSecret = Sealed & { id: string; hint: string; created_at: number; added_by?: string }

/** Where a billing vendor sends its events. `version` grows with every change that ingest depends on. */
export const connections = sqliteTable(
  'connections',
  {
    id: text().primaryKey(),
    project_id: text().notNull(),
    vendor: text().notNull(),
    name: text().notNull(),
    livemode: integer({ mode: 'boolean' }).notNull().default(true),
    status: text({ enum: ['active', 'disabled'] })
      .notNull()
      .default('active'),
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
  },
  (t) => [index('connections_project').on(t.project_id, t.id)],
)
