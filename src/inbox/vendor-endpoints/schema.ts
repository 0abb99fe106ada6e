import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What can be wrong with the endpoint at a vendor. */
export const ENDPOINT_FINDINGS = [
  'endpoint_missing',
  'thin_only',
  'url_differs',
  'endpoint_disabled',
  'endpoint_twice',
  'events_missing',
  'api_version_old',
] as const

/** `events`: types that are missing. `version`: the one that is too old. `count`: endpoints that send here. */
export type EndpointFinding = {
  finding: (typeof ENDPOINT_FINDINGS)[number]
  events?: string[]
  version?: string
  count?: number
}

/** The result of a check. `endpoint` is null if there is none. Everything in it has a bounded length. */
export type EndpointResult = {
  endpoint: { id: string; url: string; enabled: boolean; api_version: string | null } | null
  findings: EndpointFinding[]
}

/** Why the last check failed. */
export const CHECK_ERRORS = ['permission_missing', 'vendor_failed'] as const

/** The last check of the endpoint at a connection's vendor: at most one row for each connection. */
export const vendorEndpoints = sqliteTable(
  'vendor_endpoints',
  {
    project_id: text().notNull(),
    connection_id: text().notNull(),
    /** When the next check is due (ms). Null while the connection has no API key for it. */
    due_at: integer(),
    /** When `result` was found (ms). */
    checked_at: integer(),
    result: text({ mode: 'json' }).$type<EndpointResult>(),
    /** The error of a later check. */
    error: text({ enum: CHECK_ERRORS }),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.connection_id] }),
    index('vendor_endpoints_due').on(t.due_at).where(sql`due_at IS NOT NULL`),
  ],
)
