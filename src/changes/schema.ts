import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'

/**
 * A change as it is stored. It has no values of objects, so that an erasure finds nothing here. Triggers write this form too: see the migration
 * `changes`.
 */
export type StoredChange = {
  type: string
  /** The type of the object; left out where it is the first word of `type`. */
  object?: string
  id: string
  vendor?: string
  /** The object's. */
  revision?: number
  /** The names of the fields that changed. */
  fields?: readonly string[]
  /** The vendor's id of the customer that the object belongs to. */
  customer?: string
  consumer_id?: string
  /** Whom the object belonged to before, if the change moved it. */
  former?: { customer?: string; consumer_id?: string }
  /** The id of the event, fetch or audit entry that made the change. */
  cause?: string
  /** Of a rotation of an API key that waits or has waited for a first use: the user or API key that began it. */
  begun_by?: string
  /**
   * Of an outcome of a webhook event that had one before: `replay` if a replay led to it, else `outcome`. A relay sends first outcomes,
   * and outcomes of replays if its `replays` is true.
   */
  repeat?: 'outcome' | 'replay'
  /** Of `entitlements.changed`: what a consumer is allowed to do now, and what it was before. */
  features?: readonly FeatureChange[]
  /** Of `entitlements.changed`: what may have brought it about. */
  causes?: readonly StoredCause[]
}

/** A feature with the value that a consumer was and is allowed; null: none. `reason`: why it is as it is now. */
export type FeatureChange = { key: string; before: unknown; after: unknown; reason: string }

/**
 * What may have changed entitlements: a change by its number and type, with its own cause; or with a type alone, `time` that has passed,
 * or `gap`: changes that were deleted before they were read.
 */
export type StoredCause = { type: string; number?: number; cause?: string }

/**
 * What changed in a project, in the order of the commits: a row for each transaction, or several. D1 executes one transaction at a
 * time and the number is made in its INSERT, so numbers have no gaps and none appears behind a reader.
 */
export const changes = sqliteTable(
  'changes',
  {
    project_id: text().notNull(),
    /** The number of the last of its changes. The numbers of a project begin with 1. */
    seq: integer().notNull(),
    /** When it was written (ms), by the database's clock. */
    at: integer().notNull(),
    items: text({ mode: 'json' }).$type<StoredChange[]>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.seq] })],
)

/**
 * The prefix of the ids of this database's changes: one row, which a migration makes up. No backup has it, so a restored database has another
 * one, and a reader learns that its position means nothing there.
 */
export const changesEpoch = sqliteTable('changes_epoch', { epoch: text().primaryKey() })

/** What a purged project leaves here. */
export const CHANGES_PARTS: Parts = {
  changes: partOf(changes, [changes.project_id, changes.seq], CHUNK_ROWS),
}
