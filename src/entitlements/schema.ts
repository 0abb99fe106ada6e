import { sql } from 'drizzle-orm'
import { check, integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'

export const EFFECTS = ['allow', 'deny'] as const
export type Effect = (typeof EFFECTS)[number]

/** What people give to a consumer beside what it pays for, or take from it. */
export const grants = sqliteTable(
  'grants',
  {
    project_id: text().notNull(),
    consumer_id: text().notNull(),
    id: text().notNull(),
    /** The key of a feature; null if a plan is granted. */
    feature: text(),
    plan_id: text(),
    effect: text({ enum: EFFECTS }).notNull(),
    /** Of an allowed feature: what its type allows. Null otherwise. */
    value: text({ mode: 'json' }).$type<unknown>(),
    /** Milliseconds; null: since it was made. */
    starts_at: integer(),
    /** Milliseconds; null: it does not expire. */
    expires_at: integer(),
    reason: text(),
    /** Who made it. */
    actor: text().notNull(),
    revoked_at: integer(),
    revoked_by: text(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.consumer_id, t.id] }),
    unique('grants_id').on(t.project_id, t.id),
    check('grants_one', sql`(${t.feature} IS NULL) <> (${t.plan_id} IS NULL)`),
    check('grants_deny', sql`${t.effect} = 'allow' OR ${t.feature} IS NOT NULL`),
  ],
)
