import { isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CHUNK_ROWS } from '../db/limits'
import { type Part, type Parts, partOf } from '../db/parts'
import type { Scope } from '../lib/access'

/** Through whose hands a secret went: see `secret_issued_to` and `secret_lineage` of a key. */
type Hands = { issued_to: string; lineage: string[] | null }

/** A secret that a rotation handed out and that takes the place of the current one at its first use. Times in ms. */
export type PendingSecret = Hands & {
  key_prefix: string
  created_at: number
  /** Not used by then, it never works again. */
  expires_at: number
  /** How long the secret that it replaces works on (s). */
  grace_s: number
}

/** The secret before the current one, which works on for a while. Times in ms. */
export type PreviousSecret = Hands & {
  key_prefix: string
  replaced_at: number
  valid_until: number
  last_used_at: number | null
}

/** Where a use of a key came from, as a keyed hash and a country, and what it was. */
export type LastUse = { address: string; country: string | null; user_agent: string | null; operation: string }

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
    /** What the use at `last_used_at` was. */
    last_use: text({ mode: 'json' }).$type<LastUse>(),
    revoked_at: integer(),
    /** Where the key works: canonical blocks of addresses. Null: anywhere. */
    allowed_networks: text({ mode: 'json' }).$type<string[]>(),
    /** How many requests a minute the key may make. Null: as many as any key. */
    rate_limit: integer(),
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
    /** SHA-256 of the secret that waits for its first use; with `pending`, or null. */
    pending_hash: text(),
    pending: text({ mode: 'json' }).$type<PendingSecret>(),
    /** SHA-256 of the secret before the current one, which is in `retired_secrets` too; with `previous`, or null. */
    previous_hash: text(),
    previous: text({ mode: 'json' }).$type<PreviousSecret>(),
  },
  (t) => [
    uniqueIndex('api_keys_hash').on(t.hash),
    uniqueIndex('api_keys_pending').on(t.pending_hash).where(sql`pending_hash IS NOT NULL`),
    index('api_keys_live').on(t.project_id, t.id).where(sql`revoked_at IS NULL`),
    // Two partial indexes of projects, so that no list of live keys is read through revoked ones.
    index('api_keys_revoked').on(t.project_id, t.id).where(sql`revoked_at IS NOT NULL`),
    index('api_keys_expiring').on(t.expires_at).where(sql`expires_at IS NOT NULL AND revoked_at IS NULL`),
    index('api_keys_minter').on(t.created_by).where(sql`minter_email IS NOT NULL`),
  ],
)

/**
 * Hashes of secrets that a rotation replaced, or that ended before their first use. Using one is refused with `key_rotated`,
 * unless it is the previous secret of its key and still works.
 */
export const retiredSecrets = sqliteTable(
  'retired_secrets',
  {
    hash: text().primaryKey(),
    key_id: text().notNull(),
    retired_at: integer().notNull(),
  },
  (t) => [index('retired_secrets_key').on(t.key_id)],
)

/** What a key was used by on a day, the newest first. Times in ms. `hash`: the keyed hash of an address. */
export type SeenNetwork = { hash: string; network: string | null; country: string | null; at: number }
export type SeenAgent = { name: string; at: number }
/** A call that was refused: `route` is the path as the API states it. */
export type RefusedCall = {
  at: number
  method: string
  route: string
  status: number
  code: string
  request_id: string
}
export type Seen = { networks: SeenNetwork[]; agents: SeenAgent[]; calls: RefusedCall[] }

/** The use of a key on a day: at least what is stated. */
export const apiKeyDays = sqliteTable(
  'api_key_days',
  {
    project_id: text().notNull(),
    key_id: text().notNull(),
    /** Days since 1970 (UTC). */
    day: integer().notNull(),
    /** `requests`, `refused:<code>`, `op:<operation>`, and `at:<ten minutes since 1970>` of the last hour. */
    counts: text({ mode: 'json' }).$type<Record<string, number>>().notNull(),
    seen: text({ mode: 'json' }).$type<Seen>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.key_id, t.day] })],
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
  api_key_days: partOf(apiKeyDays, [apiKeyDays.project_id, apiKeyDays.key_id, apiKeyDays.day], CHUNK_ROWS),
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
