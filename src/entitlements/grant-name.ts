import { and, eq, sql } from 'drizzle-orm'
import { features, plans } from '../catalog/schema'
import { grants } from '../consumers/schema'

const what = sql`coalesce(${features.name}, ${grants.feature}, ${plans.name})`
const value = sql`${grants.value} ->> '$'`
const quantity = sql`iif(${features.type} = 'quantity' AND ${grants.effect} = 'allow', ': ' || format(iif(typeof(${value}) = 'integer', '%,d', '%s'), ${value}), '')`

/** A grant by the name of the feature or the plan that it gives, with a quantity: `Seats: 50`; `Denied …` for a feature that it denies. */
export const grantName = sql<string>`iif(${grants.effect} = 'deny', 'Denied ', '') || ${what} || ${quantity}`

/** What a statement that has {@link grantName} joins. */
export const featureOfGrant = and(eq(features.project_id, grants.project_id), eq(features.key, grants.feature))
export const planOfGrant = and(eq(plans.project_id, grants.project_id), eq(plans.id, grants.plan_id))
