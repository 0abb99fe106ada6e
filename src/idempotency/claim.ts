import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Database, noticed, type Query } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { idempotency } from './schema'

/** A request with an Idempotency-Key. */
export type Claim = {
  project_id: string
  actor: string
  /** The key as it was sent. It is never stored. */
  key: string
  key_hash: string
  /** Null until the request is found to be valid. */
  fingerprint: string | null
  /** `kept`: its row was written with what it made. `repeat`: an earlier request with the key has made something. */
  state: 'open' | 'kept' | 'repeat'
}

/** What an earlier request with the key has made. */
export type Kept = typeof idempotency.$inferSelect

/**
 * Keeps the Idempotency-Key of a request with the object that it makes, for one batch: `batch(db, { …, ...keptWith(db, change, id) })`.
 * It follows the statement that makes the object, or its audit row, because SQLite's `changes()` counts the rows of the statement
 * before it, without those that triggers wrote. So what is refused keeps nothing. If the key is there already, the batch fails
 * whole, and an object is not made twice. Nothing is written for a request without a key.
 *
 * @param key_prefix of the secret that the answer has, if it has one
 */
export function keptWith(
  db: Database,
  { claim, now }: { claim?: Claim | null; now: number },
  object_id: string,
  key_prefix: string | null = null,
): { idempotency?: Query } {
  if (!claim?.fingerprint) return {}
  const made = sql`changes() > 0`
  if (claim.state === 'repeat') {
    const again = db
      .update(idempotency)
      .set({ key_prefix })
      .where(and(isOf(claim), made))
    return { idempotency: again }
  }
  const { project_id, actor, key_hash, fingerprint } = claim
  const row = { project_id, actor, key_hash, fingerprint, object_id, key_prefix, at: now }
  const written = insertWhere(db, idempotency, row, made).returning({ at: idempotency.at })
  return {
    idempotency: noticed(written, (rows) => {
      if (rows.length > 0) claim.state = 'kept'
    }),
  }
}

/** Reads what an earlier request with the key has made. */
export function findKept(db: Database, claim: Claim) {
  return db.select().from(idempotency).where(isOf(claim))
}

function isOf({ project_id, actor, key_hash }: Claim): SQL | undefined {
  return and(eq(idempotency.project_id, project_id), eq(idempotency.actor, actor), eq(idempotency.key_hash, key_hash))
}
