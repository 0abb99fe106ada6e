import { sql } from 'drizzle-orm'
import { answered, notMigrated } from '../db/answered'
import { batch, type Database, type Directory, NEWEST_MIGRATION, raw, run } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { bare, excluded } from '../db/sql'
import { PING_TIMEOUT_MS } from './limits'
import { stores } from './schema'

export type StoreRow = typeof stores.$inferSelect
/** What the cron saw of a store at a visit. */
export type SeenStore = Pick<StoreRow, 'number' | 'error' | 'size_bytes' | 'migration' | 'sealed_under'>

/** Reads what the cron has noted of each store. */
export function readStores(directory: Directory) {
  return directory.select().from(stores).orderBy(stores.number)
}

/**
 * Reads what the cron has noted of each store, from a directory that answers within a shorter time and has the newest
 * migration.
 *
 * @throws {Fault} `database_unavailable`, `not_migrated`
 */
export async function readService(directory: Directory): Promise<StoreRow[]> {
  const statements = { applied: applied(directory), noted: readStores(directory) }
  const { applied: newest, noted } = await answered(PING_TIMEOUT_MS, () => batch(directory, statements))
  if (newest.length === 0) throw notMigrated()
  return noted
}

/** Reads whether the newest migration of this version was applied, even if migrations of a later version were too. */
function applied(db: Database) {
  const name = sql<string>`name`
  return raw(db, { name }, (fields) => sql`SELECT ${fields} FROM d1_migrations WHERE name = ${NEWEST_MIGRATION}`)
}

/** Reads the name of the newest migration that was applied to a database. */
export function newestMigration(db: Database) {
  const name = sql<string>`name`
  return raw(db, { name }, (fields) => sql`SELECT ${fields} FROM d1_migrations ORDER BY id DESC LIMIT 1`)
}

/** Notes what the cron saw. If a store failed, what was noted about it before is kept. */
export async function noteSeen(directory: Directory, seen: readonly SeenStore[], now: number): Promise<void> {
  const row = {
    number: sql`j.value ->> 'number'`,
    first_seen_at: sql`${now}`,
    seen_at: sql`iif(j.value ->> 'error' IS NULL, ${now}, 0)`,
    error: sql`j.value ->> 'error'`,
    size_bytes: sql`j.value ->> 'size_bytes'`,
    migration: sql`j.value ->> 'migration'`,
    sealed_under: sql`j.value ->> 'sealed_under'`,
    closed: sql`0`,
  }
  const { seen_at, error, size_bytes, migration, sealed_under } = stores
  const update = sql`${bare(seen_at)} = max(${seen_at}, ${excluded(seen_at)}), ${bare(error)} = ${excluded(error)},
    ${bare(size_bytes)} = coalesce(${excluded(size_bytes)}, ${size_bytes}),
    ${bare(migration)} = coalesce(${excluded(migration)}, ${migration}),
    ${bare(sealed_under)} = coalesce(${excluded(sealed_under)}, ${sealed_under})`
  const each = sql`FROM json_each(${JSON.stringify(seen)}) j WHERE true ON CONFLICT DO UPDATE SET ${update}`
  await run(directory, insertFrom(directory, stores, row, each))
}
