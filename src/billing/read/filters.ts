import { type Column, type SQL, sql } from 'drizzle-orm'
import { overdueInvoice } from '../invoices/debt'

/** What a list can be filtered by. */
export type ObjectFilters = {
  customer?: string | undefined
  subscription?: string | undefined
  status?: string | undefined
  vendor?: string | undefined
  /** Times without their `Z`, as far as they have digits. Inclusive. */
  updated_after?: string | undefined
  created_after?: string | undefined
  livemode?: boolean | undefined
  metadata?: Record<string, string> | undefined
  /** Of purchases: whether they have a dispute, and whether nothing says what was bought. */
  disputed?: boolean | undefined
  items_missing?: boolean | undefined
  /** Of subscriptions: whether they are overdue, at a time (ms). */
  overdue?: { is: boolean; now: number } | undefined
  /** Of invoices: whether they are overdue, at a time (ms). */
  overdue_invoice?: { is: boolean; now: number } | undefined
}

/** What is asked of an object's items: an expression over its columns. The caller knows which plan has their prices. */
export type OnItems = (of: Record<'vendor' | 'candidates', Column>) => SQL

/** What filters ask of the object itself, which the database must parse for it. */
export function conditionsOnBody(
  of: Record<'vendor' | 'candidates' | 'status', Column>,
  { created_after, disputed, items_missing, overdue_invoice, metadata = {} }: ObjectFilters,
  onItems: OnItems | undefined,
): SQL[] {
  const { candidates, status } = of
  return [
    created_after !== undefined && sql`rtrim(${candidates}->>'$[0].body.created_at', 'Z') >= ${created_after}`,
    disputed !== undefined && sql`(json_array_length(${candidates}, '$[0].body.disputes') > 0) = ${Number(disputed)}`,
    items_missing !== undefined && sql`${candidates}->>'$[0].body.items_missing' = ${Number(items_missing)}`,
    overdue_invoice &&
      sql`${overdueInvoice({ candidates, status }, overdue_invoice.now)} = ${Number(overdue_invoice.is)}`,
    ...Object.entries(metadata).map((pair) => hasMetadata(candidates, pair)),
    onItems?.(of),
  ].filter((one) => one !== false && one !== undefined)
}

/** Whether an object has this metadata. Numbers and booleans are compared by their text. */
function hasMetadata(candidates: Column, [key, value]: [string, string]): SQL {
  return sql`EXISTS (SELECT 1 FROM json_each(${candidates}, '$[0].body.metadata') m WHERE m.key = ${key}
    AND CASE WHEN m.type IN ('true', 'false') THEN m.type ELSE CAST(m.value AS TEXT) END = ${value})`
}
