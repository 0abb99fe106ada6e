import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'
import type { PublicPoint } from './signing'

/**
 * The states of a key that signs tokens: published ahead of its use, in use, and published for the tokens that it has signed.
 */
export const KEY_STATES = ['next', 'current', 'retired'] as const

export type KeyState = (typeof KEY_STATES)[number]

/** The keys that sign a project's entitlement tokens. */
export const entitlementKeys = sqliteTable(
  'entitlement_keys',
  {
    project_id: text().notNull(),
    /** The thumbprint of the public key (RFC 7638). */
    kid: text().notNull(),
    state: text({ enum: KEY_STATES }).notNull(),
    public: text({ mode: 'json' }).$type<PublicPoint>().notNull(),
    /** The private key, sealed: under which encryption key, and its box. A retired key has none. */
    key: integer(),
    box: text(),
    created_at: integer().notNull(),
    /** Since when it is in this state (ms). */
    state_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.kid] }),
    uniqueIndex('entitlement_keys_one').on(t.project_id, t.state).where(sql`state IN ('current', 'next')`),
    // For the cron, which renews keys by their age.
    index('entitlement_keys_age').on(t.state, t.state_at),
    check(
      'entitlement_keys_sealed',
      sql`(${t.state} = 'retired') = (${t.box} IS NULL) AND (${t.key} IS NULL) = (${t.box} IS NULL)`,
    ),
  ],
)

/** What a purged project leaves here. */
export const TOKEN_KEY_PARTS: Parts = {
  entitlement_keys: partOf(entitlementKeys, [entitlementKeys.project_id, entitlementKeys.kid], CHUNK_ROWS),
}
