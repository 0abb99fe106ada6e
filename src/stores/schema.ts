import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What the cron last saw of each store. In the directory. */
export const stores = sqliteTable('stores', {
  number: integer().primaryKey(),
  /** Milliseconds since the epoch, like the other times. */
  first_seen_at: integer().notNull(),
  /** When it last answered; 0 if it never has. */
  seen_at: integer().notNull().default(0),
  /** What failed at the last visit; null if nothing did. */
  error: text(),
  size_bytes: integer(),
  /** The newest migration that was applied to it. */
  migration: text(),
  /** The number of the encryption key under which all of its secrets were; 0 if some were not, null if that is not known. */
  sealed_under: integer(),
  /** Whether an operator has closed it to new projects. */
  closed: integer({ mode: 'boolean' }).notNull().default(false),
})

const NAMES = [
  /** When the sweep last ran (ms). */
  'last_sweep_at',
  /** The number of the encryption key under which every secret was found to be sealed. */
  'sealed_under',
  /** How many secrets no key opened, the last time that all were looked at. */
  'not_resealed',
  /** How many messages have come through the dead-letter queue. */
  'dead_letters',
  /** In the directory, if one run does not reach all stores: the store with which the last run of the cron ended. */
  'stores_until',
  /** When housekeeping begins to move `payloads` to `bodies` (ms). The previous version reads only `payloads`. */
  'payloads_move_from',
  /**
   * Until when (ms) the version before migration 0040 may run. It writes `minutes` at ingest, reads every attempt from its row, and
   * searches by indexes that are dropped later. Not there if the database had no connections.
   */
  'fewer_rows_from',
  /**
   * Until when (ms) the version before migration 0041 may run, which does not read `packed_bodies`. Not there if the database had no
   * connections.
   */
  'packed_from',
  /**
   * Until when (ms) the version before migration 0081 may run. It searches names by indexes that are dropped later. Not there if the database
   * had neither connections nor consumers.
   */
  'keyed_names_from',
  /** Since when `customer_moves` also has what pins moved (ms). Not there if no customer was linked before. */
  'pins_known_from',
  /** In the directory: how many passes have looked for addresses in old entries of the audit log. */
  'address_passes',
] as const

export type StateName = (typeof NAMES)[number]

/** What a store remembers about itself. In the directory, it also has what exists once for the whole deployment. */
export const state = sqliteTable('state', {
  name: text({ enum: NAMES }).primaryKey(),
  value: integer().notNull(),
})

/** How far housekeeping has got: a row for each task, which passes over all projects once an hour. */
export const progress = sqliteTable('progress', {
  task: text().primaryKey(),
  /** The hour (since the epoch) in which the last complete pass ended; 0 if none has. */
  hour: integer().notNull(),
  /**
   * The project that the current pass has reached, in the order of ids; empty if no pass has begun. A backup and a restore note here, as
   * JSON, how far they have got.
   */
  after: text().notNull(),
})
