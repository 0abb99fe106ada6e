import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CHUNK_OBJECTS, CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'
import { KINDS } from '../lib/billing-kinds'
import type { NameKeys } from '../lib/names'
import type { Candidate } from './reduce'

/**
 * The vendor's time of the last change, without its `Z`: such times sort as text, however many digits they have. A row of a payment
 * whose sale is not known has no body, and is in no list.
 */
const LAST_CHANGE = sql`CASE WHEN kind IN ('subscription', 'invoice', 'payment_method')
  OR (kind = 'purchase' AND candidates ->> '$[0].body.status' IS NOT NULL)
  THEN coalesce(rtrim(candidates ->> '$[0].body.updated_at', 'Z'), '') END`

/**
 * What people call an object, in lower case: the name of a customer, the number of an invoice or a purchase. Null if there is
 * none, and for all other kinds.
 */
export const CALLED = sql`CASE kind WHEN 'customer' THEN lower(candidates ->> '$[0].body.name')
  WHEN 'invoice' THEN lower(candidates ->> '$[0].body.number') WHEN 'purchase' THEN lower(candidates ->> '$[0].body.number') END`
/** The email address of a customer, in lower case. Null for all other kinds. */
export const EMAIL_OF_CUSTOMER = sql`CASE kind WHEN 'customer' THEN lower(candidates ->> '$[0].body.email') END`

/** Whether a customer's name has no keys yet. */
export const WITHOUT_KEYS = sql`kind = 'customer' AND name_keys IS NULL AND candidates ->> '$[0].body.name' IS NOT NULL`

/** The keys of customers' names, by which they are found: see {@link NameKeys}. Triggers write them. */
export const customerNames = sqliteTable(
  'customer_names',
  { project_id: text().notNull(), name: text().notNull(), vendor: text().notNull(), customer: text().notNull() },
  (t) => [primaryKey({ columns: [t.project_id, t.name, t.customer, t.vendor] })],
)

/**
 * The project's subscriptions, invoices, payment methods, customers and purchases, as the vendors' events describe them. The key is the
 * vendor's id, so that a connection that replaces another one ends in the same rows. The table has a rowid, because its rows are large:
 * docs/contribute/storage.md#how-large-a-row-may-be.
 */
export const billingObjects = sqliteTable(
  'billing_objects',
  {
    project_id: text().notNull(),
    kind: text({ enum: KINDS }).notNull(),
    vendor_id: text().notNull(),
    vendor: text().notNull(),
    customer: text(),
    /** Invoices and purchases only. */
    subscription: text(),
    status: text().notNull(),
    /** Whether several events of the same instant disagree about the state, and nothing decides between them. */
    ambiguous: integer({ mode: 'boolean' }).notNull().default(false),
    /** Whether a list in the object was cut off, by the vendor or by us. */
    incomplete: integer({ mode: 'boolean' }).notNull().default(false),
    /** Goes up with every change. A write over another version than the one that was read is refused: see store.ts. */
    version: integer().notNull(),
    /** The event or fetch that the state comes from, first; then those needed to place the next one: see reduce.ts. */
    candidates: text({ mode: 'json' }).$type<Candidate[]>().notNull(),
    /**
     * Of a subscription: the latest period in which an event said that it is past due, and the earliest vendor
     * time of such an event. Both as `nanoseconds` makes them: see past-due.ts.
     */
    past_due_period: text(),
    past_due_since: text(),
    /** Of a customer's name. Triggers write them to `customer_names`. */
    name_keys: text({ mode: 'json' }).$type<NameKeys>(),
    /** What lists are sorted by; null for the kinds that have no list. */
    updated: text().generatedAlwaysAs(LAST_CHANGE, { mode: 'virtual' }),
  },
  (t) => [
    uniqueIndex('billing_key').on(t.project_id, t.kind, t.vendor_id, t.vendor),
    // Lists choose their index in planOf() of read/store.ts.
    index('billing_customer')
      .on(t.project_id, t.kind, t.customer, t.vendor, t.vendor_id)
      .where(sql`customer IS NOT NULL`),
    index('billing_changed').on(t.project_id, t.kind, t.updated, t.vendor_id, t.vendor).where(sql`updated IS NOT NULL`),
    index('billing_test')
      .on(t.project_id, t.kind, t.updated, t.vendor_id, t.vendor)
      .where(sql`updated IS NOT NULL AND candidates ->> '$[0].body.livemode' = 0`),
    index('billing_called').on(t.project_id, t.kind, CALLED, t.vendor_id, t.vendor).where(sql`${CALLED} IS NOT NULL`),
    index('billing_email')
      .on(t.project_id, t.kind, EMAIL_OF_CUSTOMER, t.vendor_id, t.vendor)
      .where(sql`${EMAIL_OF_CUSTOMER} IS NOT NULL`),
    // Customers whose names' keys the cron has yet to write: see customers/named.ts.
    index('billing_without_keys').on(t.project_id, t.vendor_id, t.vendor).where(WITHOUT_KEYS),
    index('billing_ambiguous').on(t.project_id, t.kind).where(sql`ambiguous = 1`),
    index('billing_incomplete').on(t.project_id, t.kind).where(sql`incomplete = 1`),
    index('billing_items_missing')
      .on(t.project_id, t.kind)
      .where(sql`kind = 'purchase' AND candidates ->> '$[0].body.items_missing' = 1`),
    index('billing_unknown').on(t.project_id, t.kind).where(sql`kind = 'subscription' AND status = 'unknown'`),
  ],
)

/** What a purged project leaves here. */
export const BILLING_PARTS: Parts = {
  customer_names: partOf(
    customerNames,
    [customerNames.project_id, customerNames.name, customerNames.customer, customerNames.vendor],
    CHUNK_ROWS,
  ),
  billing_objects: partOf(
    billingObjects,
    [billingObjects.project_id, billingObjects.kind, billingObjects.vendor_id, billingObjects.vendor],
    CHUNK_OBJECTS,
  ),
}
