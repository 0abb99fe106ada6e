import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CHUNK_OBJECTS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'

/** What a project wants a name for: the email addresses of a domain, or a host that serves its pages. */
export const PURPOSES = ['sso', 'surface'] as const
export type Purpose = (typeof PURPOSES)[number]

/** The states of a domain. In `verified` and `grace` the project holds the name. A released domain never changes again. */
export const DOMAIN_STATES = ['pending', 'verified', 'grace', 'failed', 'released'] as const
export type DomainState = (typeof DOMAIN_STATES)[number]

/** DNS names that projects prove to be theirs. They are in the directory, because they are looked up without a project. */
export const domains = sqliteTable(
  'domains',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    /** In lower case, in A-labels. */
    hostname: text().notNull(),
    purpose: text({ enum: PURPOSES }).notNull(),
    state: text({ enum: DOMAIN_STATES }).notNull(),
    /** Since when it is in this state (ms). */
    state_since: integer().notNull(),
    /** What its TXT record must say. Not a secret. It is new after a failure, so that an old record proves nothing. */
    token: text().notNull(),
    /** Checks in a row that found no record, and when the first of them was (ms). */
    absent: integer().notNull().default(0),
    absent_since: integer(),
    /** What the last check saw; null before the first one. */
    evidence: text({ mode: 'json' }).$type<Evidence>(),
    /** Whether this service answers on the host; null if nobody has looked. Surfaces only. */
    serving: integer({ mode: 'boolean' }),
    serving_at: integer(),
    /** Why it does not. */
    serving_detail: text(),
    /** When it was last proven after it was not (ms). */
    verified_at: integer(),
    checked_at: integer(),
    next_check_at: integer(),
    /** When a domain in grace fails (ms). */
    grace_until: integer(),
    /** The user or API key that added it. */
    created_by: text().notNull(),
    created_at: integer().notNull(),
    /** Goes up with every result of a check and with every change. A result for an older version is dropped. */
    version: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.id] }),
    uniqueIndex('domains_name').on(t.project_id, t.purpose, t.hostname).where(sql`state <> 'released'`),
    uniqueIndex('domains_surface').on(t.hostname).where(sql`purpose = 'surface' AND state IN ('verified', 'grace')`),
    index('domains_held').on(t.hostname, t.purpose).where(sql`state IN ('verified', 'grace')`),
    index('domains_released').on(t.state_since).where(sql`state = 'released'`),
    index('domains_due').on(t.next_check_at).where(sql`next_check_at IS NOT NULL`),
    check('domains_purpose', sql`${t.purpose} IN ('sso', 'surface')`),
    check('domains_state', sql`${t.state} IN ('pending', 'verified', 'grace', 'failed', 'released')`),
    check('domains_next_check', sql`(${t.next_check_at} IS NULL) = (${t.state} IN ('failed', 'released'))`),
    check('domains_grace_until', sql`(${t.grace_until} IS NULL) = (${t.state} <> 'grace')`),
    check('domains_evidence', sql`octet_length(${t.evidence}) <= 4096`),
  ],
)

/** What the record of a domain looked like. `unreachable`: there was no answer that can be relied on. */
export const RECORD_STATUSES = ['found', 'missing', 'wrong', 'unreachable'] as const
export type RecordStatus = (typeof RECORD_STATUSES)[number]

/**
 * What one resolver said. `rcode`: the name of the DNS response code, or in one word why there was no usable answer.
 * `authenticated`: whether it has checked DNSSEC signatures.
 */
export type ResolverAnswer = { name: string; rcode: string; authenticated: boolean; values: string[] }

/** What a check saw, as it is stored. */
export type Evidence = { status: RecordStatus; resolvers: ResolverAnswer[] }

/** What a purged project leaves here. */
export const DOMAIN_PARTS: Parts = {
  domains: partOf(domains, [domains.project_id, domains.id], CHUNK_OBJECTS),
}
