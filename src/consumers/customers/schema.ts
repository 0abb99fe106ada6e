import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The consumer that a vendor's customer is, unless it is pinned: by the external id that counts. */
const REF = sql`CASE WHEN pinned IS NULL THEN coalesce(said, hint) END`

/** The pattern of the pins of customers that were erased with their consumers: each is pinned to the erasure. */
export const ERASED_PINS = sql`'ers_*'`
const ERASED = sql`pinned GLOB 'ers_*'`

/**
 * Which consumer a vendor's customer is: what people and events say about it. It names consumers that do not exist yet.
 * Triggers in migrations record in {@link customerMoves} when events or pins change it.
 */
export const customerLinks = sqliteTable(
  'customer_links',
  {
    project_id: text().notNull(),
    /** The vendor's id. */
    customer: text().notNull(),
    vendor: text().notNull(),
    /** The external id in the newest event of the customer itself, and the rank of that event: see claims.ts. */
    said: text(),
    said_rank: text(),
    /** The external id in the earliest checkout, subscription or transaction, and the rank of that event. */
    hint: text(),
    hint_rank: text(),
    /** The consumer's id, set by hand. It takes precedence over events. Empty: no consumer. Of an erased customer: the erasure's id. */
    pinned: text(),
    ref: text().generatedAlwaysAs(REF, { mode: 'virtual' }),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.customer, t.vendor] }),
    index('customer_links_ref').on(t.project_id, t.ref).where(sql`ref IS NOT NULL`),
    index('customer_links_pinned').on(t.project_id, t.pinned).where(sql`pinned IS NOT NULL`),
    // Asked for each event with a billing object. It reads no row unless the customer is erased.
    index('customer_links_erased').on(t.project_id, t.customer, t.vendor).where(ERASED),
  ],
)

/**
 * When an event linked a customer to another external id than before, or a pin of it was set or removed: the former one. Triggers of
 * `customer_links` write it, by the database's clock.
 */
export const customerMoves = sqliteTable(
  'customer_moves',
  {
    project_id: text().notNull(),
    /** The former external id; of a customer that was pinned, the id of the former consumer. No external id begins like one. */
    ref: text().notNull(),
    moved_at: integer().notNull(),
    customer: text().notNull(),
    vendor: text().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.ref, t.moved_at, t.customer, t.vendor] }),
    index('customer_moves_age').on(t.project_id, t.moved_at),
  ],
)
