import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { type ListedKind, PAYMENT_METHODS_READ } from '../../vendors/calls'

/** `waiting`: for the vendor, or for room in the database. */
export const RUN_STATES = ['running', 'waiting', 'done', 'canceled', 'failed'] as const
export type RunState = (typeof RUN_STATES)[number]

/** `permission_missing`: the key may not read this kind. */
export const KIND_STATES = ['waiting', 'running', 'done', 'permission_missing'] as const

/** Why an import waits, or has ended before it was done. */
export const RUN_ERRORS = [
  'rate_limited',
  'vendor_unavailable',
  'vendor_refused',
  'api_key_refused',
  'api_key_removed',
  'encryption_key_unavailable',
  'database_filling',
] as const
export type RunError = (typeof RUN_ERRORS)[number]

/** How far the import of a kind of objects has got. */
export type KindProgress = {
  state: (typeof KIND_STATES)[number]
  /** Objects that were read; how many of them said something new, and how many did not. */
  seen: number
  recorded: number
  unchanged: number
  /** Those that may not or cannot be kept. Missing in imports of earlier versions, which counted them as unchanged. */
  left_out?: number
  /** The last object of each of the last pages, the newest first: if one is deleted, the page begins after the one before. */
  cursors: string[]
  /** Objects of a page, if fewer than the vendor gives: pages of more were too large. */
  limit?: number
}
/** The kinds of an import. They are read in the order of `LISTED_KINDS`. */
export type Kinds = Partial<Record<ListedKind, KindProgress>>

/** Imports: each reads the objects of a vendor's account, page by page. */
export const vendorRuns = sqliteTable(
  'vendor_runs',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    connection_id: text().notNull(),
    state: text({ enum: RUN_STATES }).notNull(),
    kinds: text({ mode: 'json' }).$type<Kinds>().notNull(),
    /** How many months of invoices were asked for, and since when (ms) that is. */
    invoice_months: integer().notNull(),
    invoices_since: integer().notNull(),
    payment_methods: text({ enum: PAYMENT_METHODS_READ }).notNull().default('default'),
    /** The import whose progress this one continues. */
    continues: text(),
    error: text({ enum: RUN_ERRORS }),
    /** Until when (ms) it waits. */
    waiting_until: integer(),
    /** How often the current page has failed. */
    tries: integer().notNull().default(0),
    /** From when on (ms) the next page may be read; null exactly when the import has ended. */
    due_at: integer(),
    /** Only the worker with the token reads a page, and writes what it says. */
    lease_token: text(),
    lease_until: integer(),
    /** The id of the user or API key. */
    actor: text().notNull(),
    /** Milliseconds since the epoch, like the other times. */
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    finished_at: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.id] }),
    index('vendor_runs_due').on(t.due_at).where(sql`due_at IS NOT NULL`),
    uniqueIndex('vendor_runs_open').on(t.project_id, t.connection_id).where(sql`finished_at IS NULL`),
    check('vendor_runs_state', sql`${t.state} IN ('running', 'waiting', 'done', 'canceled', 'failed')`),
  ],
)

/** Prices in vendors' accounts, with the names of their products: for people who map them to plans. */
export const vendorPrices = sqliteTable(
  'vendor_prices',
  {
    project_id: text().notNull(),
    vendor: text().notNull(),
    /** The vendor's id of the price. */
    ref: text().notNull(),
    name: text(),
    product: text(),
    product_name: text(),
    /** Whether it can be bought. */
    active: integer({ mode: 'boolean' }),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.vendor, t.ref] })],
)
