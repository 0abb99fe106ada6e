import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { CHUNK_OBJECTS, CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'
import { AGAIN } from './lasting'
import { COMBINES, FEATURE_TYPES, type PlanFeatures } from './values'

/** The states of a plan. `archived` is only a label for people: consumers who have the plan keep it. */
export const PLAN_STATES = ['active', 'archived'] as const
export type PlanState = (typeof PLAN_STATES)[number]

/** What a project's product can do for a consumer. */
export const features = sqliteTable(
  'features',
  {
    project_id: text().notNull(),
    /** The project's own name for it in code. It never changes. */
    key: text().notNull(),
    name: text().notNull(),
    type: text({ enum: FEATURE_TYPES }).notNull(),
    /** How several values become one. Quantities only. */
    combine: text({ enum: COMBINES }),
    created_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.key] }),
    check('features_combine', sql`(${t.type} = 'quantity') = (${t.combine} IS NOT NULL)`),
  ],
)

/** What a project sells. */
export const plans = sqliteTable(
  'plans',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    key: text().notNull(),
    name: text().notNull(),
    /** Of several plans with a config feature, the one with the highest rank counts. */
    rank: integer().notNull(),
    state: text({ enum: PLAN_STATES }).notNull(),
    /** Its keys are sorted, so that equal features are the same text. */
    features: text({ mode: 'json' }).$type<PlanFeatures>().notNull(),
    /** Goes up with every change. */
    revision: integer().notNull(),
    updated_at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.id] }), unique('plans_key').on(t.project_id, t.key)],
)

/** Which plan a vendor's price or product belongs to. The key gives each of them one plan. */
export const planRefs = sqliteTable(
  'plan_refs',
  {
    project_id: text().notNull(),
    vendor: text().notNull(),
    /** The vendor's id of the price or the product. */
    ref: text().notNull(),
    plan_id: text().notNull(),
    /** How long a one-time payment of it gives the plan: see lasting.ts. Null: it gives nothing. */
    lasts: text(),
    /** What a second payment does. Null: it follows the first one. */
    again: text({ enum: AGAIN }),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.vendor, t.ref] }),
    // Whether a project sells anything once: see entitlements/read.ts.
    index('plan_refs_lasting').on(t.project_id).where(sql`lasts IS NOT NULL`),
  ],
)

/** Plans as they were before a change. */
export const planRevisions = sqliteTable(
  'plan_revisions',
  {
    project_id: text().notNull(),
    plan_id: text().notNull(),
    revision: integer().notNull(),
    /** The plan with its prices. */
    document: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    /** When the next revision replaced it (ms). */
    until: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.plan_id, t.revision] })],
)

/** What a purged project leaves here. */
export const CATALOG_PARTS: Parts = {
  plan_refs: partOf(planRefs, [planRefs.project_id, planRefs.vendor, planRefs.ref], CHUNK_ROWS),
  plan_revisions: partOf(
    planRevisions,
    [planRevisions.project_id, planRevisions.plan_id, planRevisions.revision],
    CHUNK_OBJECTS,
  ),
  plans: partOf(plans, [plans.project_id, plans.id], CHUNK_OBJECTS),
  features: partOf(features, [features.project_id, features.key], CHUNK_ROWS),
}
