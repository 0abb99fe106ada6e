import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { MAX_MEASURED } from '../billing/limits'
import { billingObjects } from '../billing/schema'
import { type Db, raw } from '../db/client'
import { json } from '../db/sql'
import { SUBSCRIPTIONS_WITH_AMOUNTS } from './limits'

const o = alias(billingObjects, 'o')

/** What a price costs, as the items of subscriptions say: an amount in minor units of its currency, and how often it is paid. */
export type PriceAmount = {
  amount: number
  currency: string | null
  interval: string | null
  interval_count: number | null
}

/** A price, and what it costs. */
export type PricedRef = { vendor: string; ref: string; price: PriceAmount }

/**
 * Reads what prices cost, as the last of the {@link SUBSCRIPTIONS_WITH_AMOUNTS} subscriptions that changed says it of each: the
 * vendors' prices are not stored. A price that none of these has is missing, and so is one without a fixed amount. A very large
 * subscription is passed over.
 */
export function amountsOfPrices(db: Db, projectId: string) {
  const newest = sql`SELECT ${o.vendor} AS vendor, ${o.updated} AS updated,
      iif(octet_length(${o.candidates}) <= ${MAX_MEASURED}, ${o.candidates} -> '$[0].body', NULL) AS body
    FROM ${billingObjects} ${o} INDEXED BY billing_changed
    WHERE ${o.project_id} = ${projectId} AND ${o.kind} = 'subscription' AND ${o.updated} IS NOT NULL
    ORDER BY ${o.updated} DESC LIMIT ${SUBSCRIPTIONS_WITH_AMOUNTS}`
  const said = (field: string) => sql`j.value ->> ${sql.raw(`'$.${field}'`)}`
  const shown = {
    vendor: sql<string>`n.vendor`,
    ref: sql<string>`${said('price')}`,
    price:
      json<PriceAmount>(sql`json_object('amount', ${said('amount')}, 'currency', coalesce(${said('currency')}, n.body ->> '$.currency'),
      'interval', ${said('interval')}, 'interval_count', ${said('interval_count')})`),
    updated: sql<number>`max(n.updated)`,
  }
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM (${newest}) n CROSS JOIN json_each(n.body, '$.items') j
      WHERE ${said('amount')} IS NOT NULL AND ${said('price')} IS NOT NULL GROUP BY 1, 2`,
  )
}
