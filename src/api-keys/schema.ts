import { isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CHUNK_ROWS } from '../db/limits'
import type { Part, Parts } from '../db/parts'
import type { Scope } from '../lib/access'

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: text().primaryKey(),
    project_id: text().notNull(),
    name: text().notNull(),
    /** `svc_v1_` + first four of the body + `…` + last four. */
    key_prefix: text().notNull(),
    /** SHA-256 of the current secret, in hex. */
    hash: text().notNull(),
    scopes: text({ mode: 'json' }).$type<Scope[]>().notNull(),
    expires_at: integer(),
    created_by: text().notNull(),
    /** The email address of that user at the time; null if an older version wrote the row and the user is not known. */
    minter_email: text(),
    created_at: integer().notNull(),
    last_used_at: integer(),
    revoked_at: integer(),
    /**
     * The id of the user or API key that the current secret was handed to: whoever minted or last rotated this key. Null
     * in a row of an older version; then it is `created_by`.
     */
    secret_issued_to: text(),
    /**
     * The API keys through whose hands the current secret went: one of them rotated this key, with a secret that another
     * had been handed, and so on. Whoever holds one of their secrets may hold this one. Also the user who
     * rotated a key that somebody else minted, once the key has rotated itself.
     */
    secret_lineage: text({ mode: 'json' }).$type<string[]>(),
  },
  (t) => [
    uniqueIndex('api_keys_hash').on(t.hash),
    index('api_keys_live').on(t.project_id, t.id).where(sql`revoked_at IS NULL`),
    // Two partial indexes of projects, so that no list of live keys is read through revoked ones.
    index('api_keys_revoked').on(t.project_id, t.id).where(sql`revoked_at IS NOT NULL`),
    index('api_keys_minter').on(t.created_by).where(sql`minter_email IS NOT NULL`),
  ],
)

/** Hashes of secrets that a rotation replaced. Using one is refused with `key_rotated`. */
export const retiredSecrets = sqliteTable(
  'retired_secrets',
  {
    hash: text().primaryKey(),
    key_id: text().notNull(),
    retired_at: integer().notNull(),
  },
  (t) => [index('retired_secrets_key').on(t.key_id)],
)

/** Literals, so that the partial indexes can be used. */
const LIVE = isNull(apiKeys.revoked_at)
const REVOKED = isNotNull(apiKeys.revoked_at)

/** What a purged project leaves here. Keys come in two parts, because each of their two indexes of projects has only one. */
export const API_KEY_PARTS: Parts = {
  retired_secrets: retiredSecretsOf(LIVE),
  retired_secrets_of_revoked: retiredSecretsOf(REVOKED),
  api_keys: keysOf(LIVE),
  revoked_api_keys: keysOf(REVOKED),
}

function keysOf(which: SQL): Part {
  const rows = (projectId: string) => sql`FROM ${apiKeys} WHERE ${apiKeys.project_id} = ${projectId} AND ${which}`
  return { table: apiKeys, key: [apiKeys.id], rows, most: CHUNK_ROWS }
}

/** The retired secrets of keys. CROSS JOIN pins the order: the keys of the project first. */
function retiredSecretsOf(which: SQL): Part {
  const rows = (
    projectId: string,
  ) => sql`FROM ${apiKeys} CROSS JOIN ${retiredSecrets} ON ${retiredSecrets.key_id} = ${apiKeys.id}
    WHERE ${apiKeys.project_id} = ${projectId} AND ${which}`
  return { table: retiredSecrets, key: [retiredSecrets.hash], rows, most: CHUNK_ROWS }
}
