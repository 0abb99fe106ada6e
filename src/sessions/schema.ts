import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

export const users = sqliteTable(
  'users',
  {
    id: text().primaryKey(),
    /** In lower case, because addresses are compared without case. */
    email: text().notNull(),
    created_at: integer().notNull(),
    /** Whether the user is sent notices about the security of the account. */
    notices: integer({ mode: 'boolean' }).notNull().default(true),
    /** The day (since the epoch, UTC) of the last notice, and how many were sent on it. */
    notices_day: integer().notNull().default(0),
    notices_sent: integer().notNull().default(0),
  },
  (t) => [uniqueIndex('users_email').on(t.email)],
)

export const signInCodes = sqliteTable(
  'sign_in_codes',
  {
    /** The challenge. It is public and useless without the code. */
    id: text().primaryKey(),
    email: text().notNull(),
    /** The mailbox of the address, for limits only: several addresses may name one. Null in rows of older versions. */
    mailbox: text(),
    /** Who asked for the code, as a keyed hash: that of the network's site, then that of the client. */
    requester: text(),
    /** HMAC-SHA256 of challenge and code, keyed with CODE_PEPPER, in hex. */
    code_hash: text().notNull(),
    created_at: integer().notNull(),
    expires_at: integer().notNull(),
    tries: integer().notNull().default(0),
    /** The session that this code opened or confirmed; null while the code is unused. */
    used_by: text(),
  },
  (t) => [
    index('sign_in_codes_email').on(t.email, t.created_at),
    index('sign_in_codes_mailbox').on(t.mailbox, t.created_at),
    index('sign_in_codes_requester').on(t.mailbox, t.requester, t.created_at),
  ],
)

export const sessions = sqliteTable(
  'sessions',
  {
    id: text().primaryKey(),
    user_id: text().notNull(),
    /** SHA-256 of the token, in hex. */
    hash: text().notNull(),
    created_at: integer().notNull(),
    expires_at: integer().notNull(),
    last_used_at: integer().notNull(),
    /** When the user last proved who they are: by signing in, or by a code or a passkey since. */
    confirmed_at: integer().notNull().default(0),
    user_agent: text(),
    /** When the user last proved a second factor in this session: a passkey or a recovery code. Null if they have not. */
    second_factor_at: integer(),
    /** The single sign-on connection that opened the session, and its project; null if a code or a passkey did. */
    connection_id: text(),
    sso_project_id: text(),
    /** The id of the session at the provider, if it gave one. */
    sid: text(),
  },
  (t) => [uniqueIndex('sessions_hash').on(t.hash), index('sessions_user').on(t.user_id, t.id)],
)
