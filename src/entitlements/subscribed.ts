import { desc, isNotNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { MAX_MEASURED } from '../billing/limits'
import { isTest } from '../billing/read/mode'
import { billingObjects } from '../billing/schema'
import { plans } from '../catalog/schema'
import { isLive } from '../consumers/grants'
import { someOwnedBy } from '../consumers/links'
import { grants } from '../consumers/schema'
import { type Db, raw } from '../db/client'
import { json, literals } from '../db/sql'
import { type Named, namedOf } from './named'

/** How many customers of a consumer, and how many subscriptions of these together, a list looks at. */
const CUSTOMERS = 5
const SUBSCRIPTIONS = 10

/** How many grants of a consumer a list looks at. */
const GRANTS = 20

/** Statuses of a subscription that is over, or never began: another one says more. */
const OVER = ['canceled', 'incomplete_expired', 'unknown']
export const isOver = (status: string) => OVER.includes(status)

const s = alias(billingObjects, 's')
const g = alias(grants, 'g')

/** The subscription that says most about a consumer. `livemode`: false in test mode. */
export type Subscribed = { status: string; livemode: boolean; plans: Named['plans'] }

/**
 * Reads the subscription that says most about each of some consumers: one that is not over before one that is, then one in live mode,
 * then the one that changed last. It looks at the first {@link CUSTOMERS} customers of each, and at {@link SUBSCRIPTIONS} of
 * their subscriptions. A consumer without any has no row; a very large subscription is passed over.
 */
export function listSubscribed(db: Db, projectId: string, consumers: readonly string[]) {
  const some = sql`SELECT ${s}.* FROM (${someOwnedBy(projectId, sql`w.value`, CUSTOMERS)}) own
    CROSS JOIN ${billingObjects} ${s} INDEXED BY billing_customer ON ${s.project_id} = ${projectId} AND ${s.kind} = 'subscription'
      AND ${s.customer} = own.customer AND ${s.vendor} = own.vendor
    WHERE octet_length(${s.candidates}) <= ${MAX_MEASURED} LIMIT ${SUBSCRIPTIONS}`
  const first = sql`SELECT * FROM (${some}) ${s}
    ORDER BY ${s.status} IN (${literals(OVER)}), ${isTest(s)}, ${s.updated} DESC LIMIT 1`
  const plans = sql`json_extract(${namedOf(projectId, s, { consumer: false, plans: true })}, '$.plans')`
  const shown = sql`(SELECT json_object('status', ${s.status}, 'livemode', json(iif(${isTest(s)}, 'false', 'true')), 'plans', json(${plans}))
    FROM (${first}) ${s})`
  const fields = { id: sql<string>`id`.as('id'), subscribed: json<Subscribed>(sql`subscribed`).as('subscribed') }
  return raw(
    db,
    fields,
    (columns) => sql`SELECT ${columns} FROM (SELECT w.value AS id, ${shown} AS subscribed
      FROM json_each(${JSON.stringify(consumers)}) w) WHERE subscribed IS NOT NULL`,
  )
}

/**
 * Reads the names of the plans that are granted to each of some consumers now. It looks at the newest {@link GRANTS} grants of each. A
 * consumer without such a plan has no row.
 *
 * @param now milliseconds
 */
export function listGrantedPlans(db: Db, projectId: string, consumers: readonly string[], now: number) {
  const newest = sql`SELECT ${g}.* FROM ${grants} ${g} WHERE ${g.project_id} = ${projectId} AND ${g.consumer_id} = w.value
    ORDER BY ${desc(g.id)} LIMIT ${GRANTS}`
  const names = sql`(SELECT json_group_array(DISTINCT ${plans.name}) FROM (${newest}) ${g}
    JOIN ${plans} ON ${plans.project_id} = ${projectId} AND ${plans.id} = ${g.plan_id}
    WHERE ${isNotNull(g.plan_id)} AND ${isLive(g, now)} AND coalesce(${g.starts_at}, 0) <= ${now})`
  const fields = { id: sql<string>`id`.as('id'), granted: json<string[]>(sql`granted`).as('granted') }
  return raw(
    db,
    fields,
    (columns) => sql`SELECT ${columns} FROM (SELECT w.value AS id, ${names} AS granted
      FROM json_each(${JSON.stringify(consumers)}) w) WHERE granted <> '[]'`,
  )
}
