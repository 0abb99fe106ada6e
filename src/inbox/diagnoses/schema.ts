import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { RefusalVerdict } from './verdicts'

/** Why deliveries were refused: the last diagnoses of each connection. Nothing of a delivery's body, and no value of a header. */
export const diagnoses = sqliteTable(
  'diagnoses',
  {
    project_id: text().notNull(),
    connection_id: text().notNull(),
    /** When the delivery was refused (ms). */
    at: integer().notNull(),
    cause: text().notNull(),
    verdict: text().$type<RefusalVerdict>().notNull(),
    /** The removed secret, or the other connection of the project, that signed it. */
    signed_by: text(),
    /** The only vendor or preset that signs in such a header. */
    sender: text(),
    /** When it was received minus the time of its signature (ms). */
    skew_ms: integer(),
    /** How many secrets were tried. */
    tried: integer().notNull(),
    /** What is wrong with the form of the signature, as a sentence, on a connection of the vendor `hmac`. */
    reason: text(),
    /** Bytes of the body. */
    size: integer().notNull(),
    media_type: text(),
    /** The names of those headers that mean something to a vendor. */
    headers: text({ mode: 'json' }).$type<string[]>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.connection_id, t.at] }), index('diagnoses_at').on(t.at)],
)

/**
 * Signing secrets that were removed a short time ago, sealed as they were. They verify no delivery. They only tell that a refused
 * delivery was signed with one of them. They are not sealed anew under a newer encryption key.
 */
export const removedSecrets = sqliteTable(
  'removed_secrets',
  {
    project_id: text().notNull(),
    connection_id: text().notNull(),
    id: text().notNull(),
    key: integer().notNull(),
    box: text().notNull(),
    removed_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.connection_id, t.id] }),
    index('removed_secrets_removed_at').on(t.removed_at),
  ],
)
