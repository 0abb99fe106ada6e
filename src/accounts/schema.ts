import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/** What can happen to an account. */
export const EVENT_TYPES = [
  'sign_in',
  'passkey_sign_in',
  'sso_sign_in',
  'sign_in_failed',
  'sign_out',
  'session_ended',
  'session_exposed',
  'signed_out_everywhere',
  'confirmed',
  'passkey_used',
  'recovery_code_used',
  'recovery_code_failed',
  'passkey_added',
  'passkey_renamed',
  'passkey_deleted',
  'recovery_codes_made',
  'notices_on',
  'notices_off',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** What happened to a user's account. The id holds the time; that of failed attempts is one of the first of their hour. */
export const accountEvents = sqliteTable(
  'account_events',
  {
    user_id: text().notNull(),
    id: text().notNull(),
    type: text({ enum: EVENT_TYPES }).notNull(),
    /** The last time, if it happened more than once. */
    at: integer().notNull(),
    /** How often: failed attempts are counted by the hour, because anybody can make them. */
    count: integer().notNull().default(1),
    /** The session that was opened, ended or confirmed, or in which it happened; null for failed attempts. */
    session_id: text(),
    user_agent: text(),
    /** Where the request came from, as a country code (ISO 3166-1); null if it is not known. */
    country: text(),
  },
  (t) => [primaryKey({ columns: [t.user_id, t.id] }), index('account_events_at').on(t.at)],
)

/** The browsers and API clients that a user has signed in from. */
export const accountBrowsers = sqliteTable(
  'account_browsers',
  {
    user_id: text().notNull(),
    /** A keyed hash of the browser's cookie, or of the user agent of an API client. */
    browser: text().notNull(),
    /** When it last signed in, to the day: a later sign-in on the same day leaves it as it is. */
    seen_at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.user_id, t.browser] }), index('account_browsers_seen').on(t.seen_at)],
)

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
    /** The same of emails about projects. */
    project_mails_day: integer().notNull().default(0),
    project_mails_sent: integer().notNull().default(0),
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

export type User = typeof users.$inferSelect
