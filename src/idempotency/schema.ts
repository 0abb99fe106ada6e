import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'

/**
 * The requests with an Idempotency-Key that have made something, and the id of what they made. A row is written in the batch that
 * made it. It holds neither the key nor a body nor an answer.
 */
export const idempotency = sqliteTable(
  'idempotency',
  {
    /** The project of the caller; empty for a session that acts in none. */
    project_id: text().notNull(),
    /** The id of the API key or the user that sent the request. */
    actor: text().notNull(),
    key_hash: text().notNull(),
    /** What was asked for: see `coverRequest`. */
    fingerprint: text().notNull(),
    object_id: text().notNull(),
    /** The part of the secret that may be shown, if the answer had a secret: of the one that was answered last. */
    key_prefix: text(),
    /** When the request was made (ms). */
    at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.actor, t.key_hash] }), index('idempotency_at').on(t.at)],
)

/** What a purged project leaves here. */
export const IDEMPOTENCY_PARTS: Parts = {
  idempotency: partOf(idempotency, [idempotency.project_id, idempotency.actor, idempotency.key_hash], CHUNK_ROWS),
}
