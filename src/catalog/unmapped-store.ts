import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { billingObjects } from '../billing/schema'
import { type Db, raw } from '../db/client'
import { MAX_UNMAPPED, NEWEST_SUBSCRIPTIONS } from './limits'
import { planRefs } from './schema'

const o = alias(billingObjects, 'o')
const r = alias(planRefs, 'r')

/** A price, or a product without a price, of subscriptions' items. `n`: how many subscriptions have it. */
export type Unmapped = ReturnType<typeof unmappedPrices>['_']['result'][number]

/**
 * Reads what the subscriptions that changed last are for, and no plan has: up to one more than {@link MAX_UNMAPPED}, the most frequent
 * first. Older subscriptions are not looked at: see {@link NEWEST_SUBSCRIPTIONS}.
 */
export function unmappedPrices(db: Db, projectId: string) {
  const shown = {
    vendor: sql<string>`vendor`,
    price: sql<string | null>`price`,
    product: sql<string | null>`product`,
    name: sql<string | null>`name`,
    n: sql<number>`n`,
  }
  const newest = sql`SELECT ${o.vendor} AS vendor, ${o.vendor_id} AS id, ${o.candidates}->'$[0].body.items' AS items
    FROM ${billingObjects} ${o} INDEXED BY billing_changed
    WHERE ${o.project_id} = ${projectId} AND ${o.kind} = 'subscription' AND ${o.updated} IS NOT NULL
    ORDER BY ${o.updated} DESC LIMIT ${NEWEST_SUBSCRIPTIONS}`
  const seen = sql`SELECT s.vendor, i.value->>'price' AS price, i.value->>'product' AS product,
      max(i.value->>'price_name') AS name, count(DISTINCT s.id) AS n
    FROM (${newest}) s CROSS JOIN json_each(s.items) i GROUP BY 1, 2, 3`
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM (${seen}) seen
      WHERE coalesce(price, product) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${planRefs} ${r}
        WHERE ${r.project_id} = ${projectId} AND ${r.vendor} = seen.vendor AND ${r.ref} IN (seen.price, seen.product))
      ORDER BY n DESC, vendor, price, product LIMIT ${MAX_UNMAPPED + 1}`,
  )
}
