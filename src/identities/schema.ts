import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, unique, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CHUNK_OBJECTS, CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'
import type { Sealed } from '../lib/seal'
import {
  AUDIENCES,
  AUTH_METHODS,
  CONNECTION_STATES,
  type ConnectionSettings,
  type Discovery,
  MODES,
  TEST_STATES,
  type TestReport,
} from './values'

/** OpenID providers that people may sign in with: the team to the console, or a project's customers to its product. */
export const ssoConnections = sqliteTable(
  'sso_connections',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    audience: text({ enum: AUDIENCES }).notNull(),
    name: text().notNull(),
    /** The issuer identifier of the provider, as its discovery document has it. It never changes. */
    issuer: text().notNull(),
    client_id: text().notNull(),
    /** The client secret, sealed for this row; null if the client has none. */
    secret: text({ mode: 'json' }).$type<Sealed>(),
    auth_method: text({ enum: AUTH_METHODS }).notNull(),
    settings: text({ mode: 'json' }).$type<ConnectionSettings>().notNull(),
    state: text({ enum: CONNECTION_STATES }).notNull(),
    /** Goes up with every change of what a test run depends on. */
    revision: integer().notNull(),
    /** The newest revision that passed a test run, and when (ms); null if none has. */
    tested_revision: integer(),
    tested_at: integer(),
    /** What the provider's discovery document was like, at the creation or in the last test run. */
    discovery: text({ mode: 'json' }).$type<Discovery>(),
    /** Where the provider signs people out, as it said at the last sign-in; null if it said nothing. */
    end_session_endpoint: text(),
    last_used_at: integer(),
    created_by: text().notNull(),
    created_at: integer().notNull(),
    deleted_at: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.id] }),
    unique('sso_connections_id').on(t.id),
    index('sso_connections_deleted').on(t.deleted_at).where(sql`deleted_at IS NOT NULL`),
    check('sso_connections_deleted', sql`${t.deleted_at} IS NULL OR ${t.state} = 'disabled'`),
  ],
)

/** Which domains a connection may vouch for. The key gives each domain one connection of an audience. */
export const ssoConnectionDomains = sqliteTable(
  'sso_connection_domains',
  {
    project_id: text().notNull(),
    domain_id: text().notNull(),
    audience: text({ enum: AUDIENCES }).notNull(),
    connection_id: text().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.domain_id, t.audience] }),
    index('sso_connection_domains_connection').on(t.project_id, t.connection_id),
  ],
)

/**
 * Sign-ins that are under way. The nonce and the PKCE verifier are not here: they are keyed hashes of the state, of which
 * this has only a hash.
 */
export const ssoLogins = sqliteTable(
  'sso_logins',
  {
    /** It holds the time when the login began. */
    id: text().primaryKey(),
    project_id: text().notNull(),
    connection_id: text().notNull(),
    mode: text({ enum: MODES }).notNull(),
    /** SHA-256 of the state, in hex. Null until a browser has opened the login's link. */
    state_hash: text(),
    /** SHA-256 of the cookie of that browser, in hex. */
    browser_hash: text(),
    /** `team`: the page to go to. `customers`: the address that gets the code. `test`: the id of the test run. */
    redirect_to: text().notNull(),
    /** What a customer's application wants back with the code. */
    app_state: text(),
    /** Of which secret a customer's server must show that it has it (RFC 7636, S256); null if it began without one. */
    code_challenge: text(),
    /** `team`: the owner who has agreed that the connection is linked to their account; null if nobody was asked. */
    agreed_by: text(),
    login_hint: text(),
    expires_at: integer().notNull(),
  },
  (t) => [
    uniqueIndex('sso_logins_state').on(t.state_hash).where(sql`state_hash IS NOT NULL`),
    check('sso_logins_browser', sql`(${t.state_hash} IS NULL) = (${t.browser_hash} IS NULL)`),
  ],
)

/** Codes that a customer's server exchanges for who has signed in. */
export const ssoCodes = sqliteTable(
  'sso_codes',
  {
    /** SHA-256 of the code, in hex. */
    hash: text().primaryKey(),
    project_id: text().notNull(),
    redirect_uri: text().notNull(),
    /** That of the login. */
    code_challenge: text(),
    consumer_id: text().notNull(),
    /** Whether this sign-in made the consumer. */
    created: integer({ mode: 'boolean' }).notNull(),
    identity_id: text().notNull(),
    /** The identity as the provider has just described it. */
    identity: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    expires_at: integer().notNull(),
  },
  (t) => [index('sso_codes_expiry').on(t.expires_at)],
)

/** Whom a subject of a provider stands for: a user or a consumer. Never found by an email address. */
export const ssoIdentities = sqliteTable(
  'sso_identities',
  {
    id: text().notNull(),
    project_id: text().notNull(),
    connection_id: text().notNull(),
    issuer: text().notNull(),
    subject: text().notNull(),
    user_id: text(),
    consumer_id: text(),
    email: text(),
    created_at: integer().notNull(),
    last_used_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.connection_id, t.issuer, t.subject] }),
    unique('sso_identities_id').on(t.project_id, t.id),
    index('sso_identities_consumer').on(t.project_id, t.consumer_id).where(sql`consumer_id IS NOT NULL`),
    index('sso_identities_user').on(t.user_id).where(sql`user_id IS NOT NULL`),
    check('sso_identities_one', sql`(${t.user_id} IS NULL) <> (${t.consumer_id} IS NULL)`),
  ],
)

/** Test runs of connections. */
export const ssoTests = sqliteTable(
  'sso_tests',
  {
    project_id: text().notNull(),
    connection_id: text().notNull(),
    /** It holds the time when the test run began. */
    id: text().notNull(),
    /** The revision of the connection that it tests. */
    revision: integer().notNull(),
    state: text({ enum: TEST_STATES }).notNull(),
    /** Its steps, without codes, tokens and secrets; null until a browser has come back from the provider. */
    report: text({ mode: 'json' }).$type<TestReport>(),
    created_at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.connection_id, t.id] }), index('sso_tests_created').on(t.created_at)],
)

/** What a purged project leaves here. */
export const IDENTITY_PARTS: Parts = {
  sso_tests: partOf(ssoTests, [ssoTests.project_id, ssoTests.connection_id, ssoTests.id], CHUNK_OBJECTS),
  sso_identities: partOf(ssoIdentities, [ssoIdentities.project_id, ssoIdentities.id], CHUNK_ROWS),
  sso_connection_domains: partOf(
    ssoConnectionDomains,
    [ssoConnectionDomains.project_id, ssoConnectionDomains.domain_id, ssoConnectionDomains.audience],
    CHUNK_ROWS,
  ),
  sso_connections: partOf(ssoConnections, [ssoConnections.project_id, ssoConnections.id], CHUNK_OBJECTS),
}
