import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { KINDS } from '../lib/billing-kinds'

/**
 * The project's subscriptions, invoices and payment methods, as the vendors' events say. Keyed by the vendor's id: a
 * connection made anew converges on the same rows.
 */
export const billingObjects = sqliteTable(
  'billing_objects',
  {
    project_id: text().notNull(),
    kind: text({ enum: KINDS }).notNull(),
    vendor_id: text().notNull(),
    vendor: text().notNull(),
    customer: text(),
    /** Of an invoice. */
    subscription: text(),
    status: text().notNull(),
    /** 1 where several events claim the last word and nothing decides between them. */
    ambiguous: integer().notNull().default(0),
    /** Moves with every change; who writes over another version than it read is refused (see billing/store.ts). */
    version: integer().notNull(),
    /** JSON array: the event that speaks for the object, first, and what is needed to place the next one. */
    candidates: text().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.kind, t.vendor_id, t.vendor] }),
    index('billing_customer')
      .on(t.project_id, t.kind, t.customer, t.vendor_id, t.vendor)
      .where(sql`customer IS NOT NULL`),
    index('billing_subscription')
      .on(t.project_id, t.kind, t.subscription, t.vendor_id, t.vendor)
      .where(sql`subscription IS NOT NULL`),
    index('billing_status').on(t.project_id, t.status, t.vendor_id, t.vendor).where(sql`kind = 'subscription'`),
    index('billing_ambiguous').on(t.project_id, t.kind).where(sql`ambiguous = 1`),
  ],
)
