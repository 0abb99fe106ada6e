import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/** Passkeys: WebAuthn credentials that users registered. */
export const passkeys = sqliteTable(
  'passkeys',
  {
    id: text().primaryKey(),
    user_id: text().notNull(),
    /** The id that the authenticator chose, base64url. */
    credential_id: text().notNull(),
    /** COSE_Key (RFC 9052), base64url. */
    public_key: text().notNull(),
    /** The authenticator's count of signatures; 0 forever if it does not count. */
    counter: integer().notNull(),
    /** How a browser can reach the authenticator, such as `internal` or `usb`: a hint for the browser. */
    transports: text({ mode: 'json' }).$type<string[]>().notNull(),
    name: text().notNull(),
    created_at: integer().notNull(),
    last_used_at: integer(),
    /** Whether the passkey was also kept elsewhere, such as in the account of a phone, when it was last used. */
    backed_up: integer({ mode: 'boolean' }).notNull(),
  },
  (t) => [uniqueIndex('passkeys_credential').on(t.credential_id), index('passkeys_user').on(t.user_id, t.id)],
)

/** Challenges that were answered. The primary key keeps a second answer to one from having any effect. */
export const spentChallenges = sqliteTable('spent_challenges', { id: text().primaryKey() })

/** Recovery codes of users. New ones replace all of a user's. */
export const recoveryCodes = sqliteTable(
  'recovery_codes',
  {
    user_id: text().notNull(),
    /** HMAC-SHA256 of user and code, keyed with CODE_PEPPER, in hex. */
    hash: text().notNull(),
    created_at: integer().notNull(),
    /** When the code was used; null while it can be. */
    used_at: integer(),
  },
  (t) => [primaryKey({ columns: [t.user_id, t.hash] })],
)
