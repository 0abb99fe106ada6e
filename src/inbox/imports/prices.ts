import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { type Db, rawWrite, run } from '../../db/client'
import { bare, valuesOf } from '../../db/sql'
import { replaced } from '../../db/upsert'
import type { VendorPrice } from '../../vendors/calls'
import { connections } from '../connections/schema'
import type { SourceKey } from '../refresh/keys'
import { vendorPrices, vendorRuns } from './schema'

const { project_id, vendor, ref, name, product, product_name, active } = vendorPrices

/** Those of some prices that are new, or of which something has changed. */
export async function newsOfPrices(
  db: Db,
  key: Pick<SourceKey, 'project_id' | 'vendor'>,
  prices: readonly VendorPrice[],
): Promise<VendorPrice[]> {
  const own = and(eq(project_id, key.project_id), eq(vendor, key.vendor))
  const refs = prices.map((price) => price.ref)
  const rows = await run(
    db,
    db
      .select({ ref, name, product, product_name, active })
      .from(vendorPrices)
      .where(and(own, inArray(ref, valuesOf(refs)))),
  )
  const known = new Map(rows.map((row) => [row.ref, row]))
  return prices.filter((price) => {
    const before = known.get(price.ref)
    return !before || FIELDS.some((field) => before[field] !== price[field])
  })
}

const FIELDS = ['name', 'product', 'product_name', 'active'] as const

/** Writes the prices of a page. @param from `vendor_runs` and `connections`, fenced, and a list `j`: as for the objects of a page */
export function writePrices(db: Db, prices: readonly VendorPrice[], from: (list: string) => SQL) {
  const list = JSON.stringify(
    prices.map((price) => ({ ...price, active: price.active === null ? null : Number(price.active) })),
  )
  const of = (field: keyof VendorPrice) => sql.raw(`j.value->>'${field}'`)
  return rawWrite(
    db,
    sql`INSERT INTO ${vendorPrices} (${bare(project_id, vendor, ref, name, product, product_name, active)})
      SELECT ${vendorRuns.project_id}, ${connections.vendor}, ${of('ref')}, ${of('name')}, ${of('product')}, ${of('product_name')}, ${of('active')}
      ${from(list)} ON CONFLICT DO UPDATE SET ${replaced(name, product, product_name, active)}`,
  )
}
