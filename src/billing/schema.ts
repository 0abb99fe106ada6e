import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { KINDS } from '../lib/billing-kinds'
import type { Candidate } from './reduce'

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
    /** Whether several events claim the last word and nothing decides between them. */
    ambiguous: integer({ mode: 'boolean' }).notNull().default(false),
    /** Moves with every change; who writes over another version than it read is refused (see billing/store.ts). */
    version: integer().notNull(),
    /** The event that the object's state comes from, first, and what is needed to place the next one. */
    candidates: text({ mode: 'json' }).$type<Candidate[]>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.kind, t.vendor_id, t.vendor] }),
    index('billing_customer')
      .on(t.project_id, t.kind, t.customer, t.vendor_id, t.vendor)
      .where(sql`customer IS NOT NULL`),
    index('billing_ambiguous').on(t.project_id, t.kind).where(sql`ambiguous = 1`),
  ],
)
