import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'
import type { Sealed } from '../lib/seal'
import { MOST_AT_ONCE } from './limits'

export const ENDPOINT_STATES = ['active', 'failing', 'disabled'] as const
/** Why an endpoint is disabled: a person or key did it, it responded with 410, or every attempt failed for days. */
export const DISABLED_REASONS = ['requested', 'gone', 'failing'] as const
export const DELIVERY_STATES = ['pending', 'failed'] as const

/** A secret that signs what an endpoint gets: sealed, with its last characters for people to recognize it by. */
export type EndpointSecret = Sealed & { id: string; hint: string; created_at: number; added_by: string }
/** Which webhook events an endpoint gets as the vendor sent them: of which connections and types (null: all), and whether after replays too. */
export type Relay = { connection_ids: string[] | null; event_types: string[] | null; replays: boolean }

/**
 * Where the changes of a project are sent. It is a cursor: `position` is the number of the last change that was sent, or that
 * has a row in `deliveries`.
 */
export const webhookEndpoints = sqliteTable(
  'webhook_endpoints',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    url: text().notNull(),
    /** As they were set: `subscription.*` stays so. */
    types: text({ mode: 'json' }).$type<string[]>().notNull(),
    ordered: integer({ mode: 'boolean' }).notNull().default(false),
    include_object: integer({ mode: 'boolean' }).notNull().default(false),
    /** Instead of changes, which `types` then does not name. */
    relay: text({ mode: 'json' }).$type<Relay>(),
    state: text({ enum: ENDPOINT_STATES }).notNull().default('active'),
    disabled_reason: text({ enum: DISABLED_REASONS }),
    /** The live secrets, each encrypted under ENCRYPTION_KEY_<key>. */
    secrets: text({ mode: 'json' }).$type<EndpointSecret[]>().notNull(),
    created_at: integer().notNull(),
    created_by: text().notNull(),
    /** The prefix of the ids under which `position` is a number: see `changes_epoch`. */
    epoch: text().notNull(),
    position: integer().notNull(),
    /** Changes in a row that it did not take at their first attempt; if it is ordered, attempts at the next one. */
    failures: integer().notNull().default(0),
    /** Since when it has taken nothing (ms). */
    failing_since: integer(),
    /** Nothing is sent before this time (ms): the next probe, or what `Retry-After` asks for. */
    not_before: integer().notNull().default(0),
    /** Requests that it gets at the same time. */
    at_once: integer().notNull().default(MOST_AT_ONCE),
    /** Whether it answers too slowly for the first queue. */
    slow: integer({ mode: 'boolean' }).notNull().default(false),
    last_success_at: integer(),
    last_failure_at: integer(),
    /** When a message for it was sent (ms); 0 if none is on its way. */
    woken_at: integer().notNull().default(0),
    /** Only the worker with the token sends. */
    lease_token: text(),
    /** Until when (ms) it may; 0 if nobody does. */
    lease_until: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.id] }),
    check('webhook_endpoints_state', sql`${t.state} IN ('active', 'failing', 'disabled')`),
  ],
)

/** Changes that an endpoint did not take at the first attempt, or is to get once more. One that it takes has no row. */
export const deliveries = sqliteTable(
  'deliveries',
  {
    project_id: text().notNull(),
    endpoint_id: text().notNull(),
    /** The number of the change. */
    seq: integer().notNull(),
    type: text().notNull(),
    state: text({ enum: DELIVERY_STATES }).notNull(),
    /** Attempts that have failed. */
    tries: integer().notNull().default(0),
    /** When it is sent next (ms); null if it is not. */
    due_at: integer(),
    /** When the last attempt was made (ms), and its answer; null if there was none. */
    attempted_at: integer(),
    status: integer(),
    error: text(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.endpoint_id, t.seq] }),
    index('deliveries_due').on(t.project_id, t.endpoint_id, t.due_at).where(sql`due_at IS NOT NULL`),
  ],
)

/** One attempt, as it is kept: `n` its change or 0, `e` the id that was sent, `s` the status, `x` what went wrong, `a` the answer. */
export type KeptAttempt = {
  n: number
  e: string
  type: string
  at: number
  ms: number
  try: number
  s: number | null
  x: string | null
  a: string
}

/** The log of what was sent: a row for each run of an endpoint, or several. The id holds the time. */
export const deliveryRuns = sqliteTable(
  'delivery_runs',
  {
    project_id: text().notNull(),
    endpoint_id: text().notNull(),
    id: text().notNull(),
    log: text({ mode: 'json' }).$type<KeptAttempt[]>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.endpoint_id, t.id] })],
)

/** Ranges of changes that are sent to an endpoint once more: each is a second cursor. */
export const resends = sqliteTable(
  'resends',
  {
    project_id: text().notNull(),
    endpoint_id: text().notNull(),
    id: text().notNull(),
    /** The numbers between which the changes are: the first excluded, the last included. */
    after: integer().notNull(),
    until: integer().notNull(),
    position: integer().notNull(),
    types: text({ mode: 'json' }).$type<string[]>(),
    /** Whether only changes are sent whose attempts have all failed. */
    failed_only: integer({ mode: 'boolean' }).notNull().default(false),
    created_at: integer().notNull(),
    created_by: text().notNull(),
    /** When it was done (ms); null while it is not. */
    finished_at: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.endpoint_id, t.id] }),
    index('resends_open').on(t.project_id, t.endpoint_id).where(sql`finished_at IS NULL`),
  ],
)

/** A change that a watcher has read and that may concern every consumer. `all`: also those of which it keeps no state. */
export type WalkCause = {
  /** The number, type, cause and time (ms) of the change. `number`: null if there is none, because the watcher itself began the walk. */
  number: number | null
  type: string
  cause?: string
  at: number
  /** The consumer behind whom the walk began for this change. */
  from: string
  /** Whether the walk has come to its end since, and begun again with the first consumer. */
  round: boolean
  all: boolean
}

/** A walk over consumers in the order of their ids, round and round. `at`: the last one that it has come to; empty: none. */
export type Walk = { at: string; causes: WalkCause[] }

/** Off: what is left of its states is being deleted. Starting: it reads what everybody may do, and tells nothing yet. */
export const WATCHER_STATES = ['off', 'starting', 'on'] as const

/**
 * The watcher of a project's entitlements: a reader of the feed with a position of its own. A project that never switched it on has no
 * row. The row stays when it is switched off, so that `version` never comes again.
 */
export const watchers = sqliteTable('watchers', {
  project_id: text().primaryKey(),
  state: text({ enum: WATCHER_STATES }).notNull(),
  /** The number of the last change that it has read, and the prefix of the ids under which it has that number. */
  position: integer().notNull(),
  epoch: text().notNull(),
  /** Goes up with each step, and fences it: see watch/write.ts. */
  version: integer().notNull(),
  walk: text({ mode: 'json' }).$type<Walk>().notNull(),
  /** Who works on it, and until when (ms). It only saves work. */
  lease_token: text(),
  lease_until: integer().notNull().default(0),
  /** When a message for it was sent (ms); 0 if none is on its way. */
  woken_at: integer().notNull().default(0),
})

/** What a purged project leaves here. */
export const FOLLOWER_PARTS: Parts = {
  deliveries: partOf(deliveries, [deliveries.project_id, deliveries.endpoint_id, deliveries.seq], CHUNK_ROWS),
  delivery_runs: partOf(deliveryRuns, [deliveryRuns.project_id, deliveryRuns.endpoint_id, deliveryRuns.id], 200),
  resends: partOf(resends, [resends.project_id, resends.endpoint_id, resends.id], CHUNK_ROWS),
  webhook_endpoints: partOf(webhookEndpoints, [webhookEndpoints.project_id, webhookEndpoints.id], CHUNK_ROWS),
  watchers: partOf(watchers, [watchers.project_id], CHUNK_ROWS),
}
