import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, unique, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CHUNK_OBJECTS, CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'
import type { NameKeys } from '../lib/names'
import { customerLinks, customerMoves } from './customers/schema'

/** The states of a consumer. A merged one stays merged until the consumer that it was merged into is erased. */
export const CONSUMER_STATES = ['active', 'blocked', 'merged', 'erased'] as const
export type ConsumerState = (typeof CONSUMER_STATES)[number]

/** Texts that a project's own server keeps with a consumer. */
export type ConsumerMetadata = Record<string, string>

/** What a project says about a consumer. A column here is read, written and erased with the others: see {@link EMPTY}. */
const own = {
  /** In lower case. */
  email: text(),
  name: text(),
  /** Its keys are sorted, so that equal metadata is the same text. */
  metadata: text({ mode: 'json' }).$type<ConsumerMetadata>().notNull(),
}

/**
 * A change of what a project says about a consumer. `at`: ms. `by`: the user or API key that made it. `was`: what it replaced; long metadata
 * is null, because it is not kept. `named`: the external id that it added.
 */
export type Edit = {
  at: number
  by: string
  was: Omit<ConsumerFields, 'metadata'> & { metadata?: ConsumerMetadata | null }
  named?: string
}

/** The end users of a project's product. */
export const consumers = sqliteTable(
  'consumers',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    ...own,
    state: text({ enum: CONSUMER_STATES }).notNull(),
    blocked_reason: text(),
    /** The consumer that this one was merged into. If that one is merged as well, this names the last one. */
    merged_into: text(),
    /** Goes up with every change. A write over another revision than the one that was read is refused. */
    revision: integer().notNull(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    /** Of an erased consumer. */
    erasure_id: text(),
    /** The user, API key or single sign-on connection that created it. Null if an older version did. */
    created_by: text(),
    /** The last changes, the oldest first: see edits.ts. They are here, and not in a log, so that an erasure takes them along. Null: none. */
    edits: text({ mode: 'json' }).$type<Edit[]>(),
    /** Of the name. Triggers write them to `consumer_names`, and null where a name that was written without its keys replaces another. */
    name_keys: text({ mode: 'json' }).$type<NameKeys>(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.id] }),
    index('consumers_email').on(t.project_id, t.email, t.id).where(sql`email IS NOT NULL`),
    // Names whose keys the cron has yet to write: see names.ts.
    index('consumers_without_keys')
      .on(t.project_id, sql`lower(${t.name})`, t.id)
      .where(sql`name IS NOT NULL AND name_keys IS NULL`),
    // Active consumers are found by the primary key: an index for them would cost a row for each new one.
    index('consumers_state').on(t.project_id, t.state, t.id).where(sql`state <> 'active'`),
    index('consumers_merged').on(t.project_id, t.merged_into, t.id).where(sql`merged_into IS NOT NULL`),
    check('consumers_merged_into', sql`(${t.state} = 'merged') = (${t.merged_into} IS NOT NULL)`),
    check('consumers_erased', sql`${t.state} <> 'erased' OR (${t.email} IS NULL AND ${t.name} IS NULL)`),
  ],
)

/** What a caller sets of a consumer; a field that is not there stays as it is, null is cleared. */
export type ConsumerFields = Partial<Pick<typeof consumers.$inferSelect, keyof typeof own>>

/** The fields of a new consumer for which nothing is set, and of an erased one. */
export const EMPTY: Required<ConsumerFields> = { email: null, name: null, metadata: {} }

/** The keys of names, by which consumers are found: see {@link NameKeys}. Triggers write them. */
export const consumerNames = sqliteTable(
  'consumer_names',
  { project_id: text().notNull(), name: text().notNull(), consumer_id: text().notNull() },
  (t) => [primaryKey({ columns: [t.project_id, t.name, t.consumer_id] })],
)

/** The ids that projects have given to their consumers. One consumer can have several. */
export const consumerIds = sqliteTable(
  'consumer_ids',
  {
    project_id: text().notNull(),
    external_id: text().notNull(),
    consumer_id: text().notNull(),
    /** Orders the ids of a consumer: the lowest is shown as its `external_id`. */
    position: integer().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.external_id] }),
    index('consumer_ids_consumer').on(t.project_id, t.consumer_id, t.position),
  ],
)

/** How far an erasure has got: the last row that it looked at, and how many payloads it had to leave to a later pass. In the archive, `id` is the number of a pack. */
export type ErasureCursor = {
  phase: 'customers' | 'objects' | 'archive' | 'events'
  customer: string
  vendor: string
  kind: string
  id: string
  left: number
  /** The consumers that were erased, until their identities are gone. */
  consumers?: readonly string[]
}

/** Erasures of consumers. Their customers are the links that are pinned to them. */
export const erasures = sqliteTable(
  'erasures',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    consumer_id: text().notNull(),
    /** Null between two passes. */
    cursor: text({ mode: 'json' }).$type<ErasureCursor>(),
    /** Payloads that were deleted. */
    removed: integer().notNull().default(0),
    requested_at: integer().notNull(),
    /** When the first pass was complete. */
    finished_at: integer(),
    /** When the cron looks at it next: at once until it is finished, then daily. Null: never, because no customer was linked. */
    due_at: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.id] }),
    index('erasures_first').on(t.due_at).where(sql`finished_at IS NULL`),
    index('erasures_due').on(t.due_at).where(sql`due_at IS NOT NULL`),
  ],
)

/** The states of a device. A revoked one stays revoked. */
export const DEVICE_STATES = ['active', 'revoked'] as const
export type DeviceState = (typeof DEVICE_STATES)[number]
export const PLATFORMS = ['ios', 'android', 'web', 'desktop', 'server', 'other'] as const

/** A token that a rotation returned, until it is used for the first time. Times in ms. */
export type PendingToken = {
  token_prefix: string
  created_at: number
  /** Not used by then, it never becomes valid. */
  expires_at: number
  /** How long the token that it replaces stays valid (s). */
  grace_s: number
  /** The user or API key that began the rotation. */
  begun_by: string
}

/** The token before the current one, which stays valid for a while. Times in ms. */
export type PreviousToken = {
  token_prefix: string | null
  valid_until: number
  /** Since it was replaced, to the hour. */
  last_used_at: number | null
}

/** The installations of a project's product from which its consumers connect, and the keys of their servers. */
export const devices = sqliteTable(
  'devices',
  {
    project_id: text().notNull(),
    /** SHA-256 of the current token, in hex. */
    token_hash: text().notNull(),
    /** The part of the current token that may be shown. Null if an older version made the token. */
    token_prefix: text(),
    id: text().notNull(),
    consumer_id: text().notNull(),
    /** The app's own id of this installation. */
    installation_id: text().notNull(),
    platform: text({ enum: PLATFORMS }).notNull(),
    name: text(),
    model: text(),
    os_version: text(),
    app_version: text(),
    /** The project's own words, sorted. Null: none. */
    scopes: text({ mode: 'json' }).$type<string[]>(),
    /** Its keys are sorted. Null: none. */
    metadata: text({ mode: 'json' }).$type<ConsumerMetadata>(),
    /** Milliseconds; null: it does not expire. */
    expires_at: integer(),
    state: text({ enum: DEVICE_STATES }).notNull(),
    /** When the device was last registered or verified (ms), to the hour. */
    last_seen_at: integer().notNull(),
    created_at: integer().notNull(),
    revoked_at: integer(),
    /** SHA-256 of the token that waits for its first use; with `pending`, or null. */
    pending_hash: text(),
    pending: text({ mode: 'json' }).$type<PendingToken>(),
    /** SHA-256 of the token before the current one; with `previous`, or null. */
    previous_hash: text(),
    previous: text({ mode: 'json' }).$type<PreviousToken>(),
  },
  (t) => [
    // By the token, which every verification looks up. So a registration writes a row less than with a key of its own.
    primaryKey({ columns: [t.project_id, t.token_hash] }),
    // For a search by id alone. All other statements know the consumer.
    uniqueIndex('devices_id').on(t.project_id, t.id),
    uniqueIndex('devices_installation').on(t.project_id, t.consumer_id, t.installation_id),
    // By state before id, so that counting the active devices reads no revoked one.
    index('devices_consumer').on(t.project_id, t.consumer_id, t.state, t.id),
    // By the token alone: whoever reports an exposed one does not know its project.
    index('devices_token').on(t.token_hash),
    // These have only the few devices that are being rotated, or that can expire: most registrations do not write them.
    uniqueIndex('devices_pending').on(t.pending_hash).where(sql`pending_hash IS NOT NULL`),
    uniqueIndex('devices_previous').on(t.previous_hash).where(sql`previous_hash IS NOT NULL`),
    index('devices_expiring')
      .on(t.project_id, t.consumer_id, t.expires_at)
      .where(sql`expires_at IS NOT NULL AND state = 'active'`),
    check('devices_revoked_at', sql`(${t.state} = 'revoked') = (${t.revoked_at} IS NOT NULL)`),
  ],
)

export const EFFECTS = ['allow', 'deny'] as const
export type GrantEffect = (typeof EFFECTS)[number]

/** What people give to a consumer beside what it pays for, or take from it. */
export const grants = sqliteTable(
  'grants',
  {
    project_id: text().notNull(),
    consumer_id: text().notNull(),
    id: text().notNull(),
    /** The key of a feature; null if a plan is granted. */
    feature: text(),
    plan_id: text(),
    effect: text({ enum: EFFECTS }).notNull(),
    /** Of an allowed feature: what its type allows. Null otherwise. */
    value: text({ mode: 'json' }).$type<unknown>(),
    /** Milliseconds; null: since it was made. */
    starts_at: integer(),
    /** Milliseconds; null: it does not expire. */
    expires_at: integer(),
    reason: text(),
    /** Who made it. */
    actor: text().notNull(),
    revoked_at: integer(),
    revoked_by: text(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.consumer_id, t.id] }),
    unique('grants_id').on(t.project_id, t.id),
    check('grants_one', sql`(${t.feature} IS NULL) <> (${t.plan_id} IS NULL)`),
    check('grants_deny', sql`${t.effect} = 'allow' OR ${t.feature} IS NOT NULL`),
  ],
)

const links = customerLinks
/** What a purged project leaves here. */
export const CONSUMER_PARTS: Parts = {
  devices: partOf(devices, [devices.project_id, devices.token_hash], CHUNK_ROWS),
  consumer_ids: partOf(consumerIds, [consumerIds.project_id, consumerIds.external_id], CHUNK_ROWS),
  consumer_names: partOf(
    consumerNames,
    [consumerNames.project_id, consumerNames.name, consumerNames.consumer_id],
    CHUNK_ROWS,
  ),
  customer_links: partOf(links, [links.project_id, links.customer, links.vendor], CHUNK_ROWS),
  customer_moves: partOf(
    customerMoves,
    [customerMoves.project_id, customerMoves.ref, customerMoves.moved_at, customerMoves.customer, customerMoves.vendor],
    CHUNK_ROWS,
  ),
  erasures: partOf(erasures, [erasures.project_id, erasures.id], CHUNK_ROWS),
  consumers: partOf(consumers, [consumers.project_id, consumers.id], CHUNK_OBJECTS),
  grants: partOf(grants, [grants.project_id, grants.consumer_id, grants.id], CHUNK_OBJECTS),
}
