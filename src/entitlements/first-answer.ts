import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { billingObjects } from '../billing/schema'
import { features, planRefs, plans } from '../catalog/schema'
import { customerLinks } from '../consumers/customers/schema'
import { consumerIds, grants } from '../consumers/schema'
import { type Db, raw } from '../db/client'
import { json } from '../db/sql'
import { projects } from '../tenancy/schema'

/** Customers that are looked at for one that is linked. */
const LOOKED_AT = 20

const l = alias(customerLinks, 'l')
const i = alias(consumerIds, 'i')
const o = alias(billingObjects, 'o')

/** Reads what a new project has of all that the first answer about a consumer needs: one row, from a few rows. */
export function findForAnswer(db: Db, projectId: string) {
  const claims = sql`FROM ${customerLinks} ${l} INDEXED BY customer_links_ref
    WHERE ${l.project_id} = ${projectId} AND ${l.ref} IS NOT NULL`
  const pinned = sql`(SELECT ${l.pinned} FROM ${customerLinks} ${l} INDEXED BY customer_links_pinned
    WHERE ${l.project_id} = ${projectId} AND ${l.pinned} IS NOT NULL AND ${l.pinned} GLOB 'csm_*' LIMIT 1)`
  const linked = sql`(SELECT ${i.consumer_id} FROM (SELECT ${l.ref} AS ref ${claims} LIMIT ${LOOKED_AT}) r
    JOIN ${consumerIds} ${i} ON ${i.project_id} = ${projectId} AND ${i.external_id} = r.ref LIMIT 1)`
  const item = sql`${o.candidates} -> '$[0].body.items[0]'`
  const shown = {
    /** The key of a feature. */
    feature: sql<
      string | null
    >`(SELECT ${features.key} FROM ${features} WHERE ${features.project_id} = ${projectId} LIMIT 1)`,
    /** Whether a plan has a price. */
    mapped: sql<boolean>`EXISTS (SELECT 1 FROM ${planRefs} WHERE ${planRefs.project_id} = ${projectId})`.mapWith(
      Boolean,
    ),
    /** The newest active plan. */
    plan: json<{ id: string; name: string } | null>(sql`(SELECT json_object('id', ${plans.id}, 'name', ${plans.name})
      FROM ${plans} WHERE ${plans.project_id} = ${projectId} AND ${plans.state} = 'active' ORDER BY ${plans.id} DESC LIMIT 1)`),
    /** A consumer that is a vendor's customer. */
    consumer: sql<string | null>`coalesce(${linked}, ${pinned})`,
    /** The external id that a customer names. */
    claimed: sql<string | null>`(SELECT ${l.ref} ${claims} LIMIT 1)`,
    /** What the subscription that changed last is for. */
    price: json<{ vendor: string; ref: string | null } | null>(sql`(SELECT json_object('vendor', ${o.vendor}, 'ref',
        coalesce(${item} ->> 'price', ${item} ->> 'variant', ${item} ->> 'product'))
      FROM ${billingObjects} ${o} INDEXED BY billing_changed
      WHERE ${o.project_id} = ${projectId} AND ${o.kind} = 'subscription' AND ${o.updated} IS NOT NULL
      ORDER BY ${o.updated} DESC LIMIT 1)`),
    /** Whether a consumer can be allowed something while there are only test events. */
    allows: sql<boolean>`coalesce((SELECT ${projects.settings} ->> 'test_mode_counts' FROM ${projects}
      WHERE ${projects.id} = ${projectId}), 0) OR EXISTS (SELECT 1 FROM ${grants} WHERE ${grants.project_id} = ${projectId})`.mapWith(
      Boolean,
    ),
  }
  return raw(db, shown, (fields) => sql`SELECT ${fields}`)
}

export type ForAnswer = ReturnType<typeof findForAnswer>['_']['result'][number]
