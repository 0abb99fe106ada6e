import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What can happen to an account. */
export const EVENT_TYPES = [
  'sign_in',
  'passkey_sign_in',
  'sso_sign_in',
  'sign_in_failed',
  'sign_out',
  'session_ended',
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
