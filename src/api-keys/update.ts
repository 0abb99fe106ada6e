import { and, gt, gte, isNull, ne, or, type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import { auditedFrom, type Change } from '../audit/store'
import { batch, type Db, run } from '../db/client'
import type { Runtime } from '../env'
import type { Actor } from '../http/actor'
import { named, visibleText } from '../http/fields'
import { invalidField } from '../http/validate'
import { requireFound } from '../lib/fault'
import { isInNetworks, isWithinNetworks } from '../lib/networks'
import { iso } from '../lib/time'
import { allowedNetworks, rateLimit } from './bounds'
import { onlyNarrower, wouldLockOut } from './faults'
import { findKey, type KeyRow, keyEntry, keysOfProject } from './key'
import { MAX_KEY_NAME } from './limits'
import { isHigher } from './rotatable'
import { apiKeys } from './schema'

export const UpdateKeyBody = named(
  'UpdateApiKey',
  z
    .strictObject({
      name: visibleText(MAX_KEY_NAME).optional(),
      expires_at: z.iso
        .datetime({ offset: true })
        .optional()
        .describe(
          'Must be in the future, and not later than the current expiry. To get a key that lasts longer, mint another one.',
        ),
      allowed_networks: allowedNetworks.optional(),
      rate_limit: rateLimit.optional(),
      confirm: z
        .boolean()
        .optional()
        .describe('Whether an API key may shut itself out with its new networks: see `would_lock_out`.'),
    })
    .refine(({ confirm: _, ...changes }) => Object.values(changes).some((value) => value !== undefined), {
      error: 'must have at least one field to change',
      params: { code: 'required' },
    }),
  { name: 'billing server', allowed_networks: ['192.0.2.0/24'], rate_limit: { per_minute: 60 } },
)

/** Who changes a key, and from which address, if it is known. */
type Caller = { actor: Actor; address: string | null }
type Bounds = Pick<KeyRow, 'allowed_networks' | 'rate_limit'>
type Changes = { [name in 'name' | keyof Bounds]: KeyRow[name] | undefined } & { expires_at: number | undefined }

/**
 * Changes a key. Its scopes stay as they were minted, and its expiry can only become earlier. An API key can only take away networks and
 * lower the limit: otherwise one in the wrong hands could free itself from them.
 *
 * @throws {Fault} `not_found`, `validation_failed`, `would_lock_out`, `console_session_required`
 */
export async function changeKey(
  rt: Pick<Runtime, 'db' | 'now'>,
  key: { project_id: string; id: string } & Caller,
  body: z.infer<typeof UpdateKeyBody>,
  change: Change,
): Promise<KeyRow> {
  const { name, allowed_networks } = body
  const expires_at = body.expires_at === undefined ? undefined : Date.parse(body.expires_at)
  if (expires_at !== undefined && expires_at <= rt.now) {
    throw invalidField('/expires_at', 'out_of_range', 'must be in the future; to end the key now, revoke it')
  }
  const rate_limit = body.rate_limit === undefined ? undefined : (body.rate_limit?.per_minute ?? null)
  const changes = { name, expires_at, allowed_networks, rate_limit }
  const seen = await boundsSeen(rt.db, key, changes)
  if (!body.confirm) requireOwnNetwork(key, allowed_networks)
  const row = await updateKey(rt.db, { ...key, seen }, changes, change)
  if (expires_at !== undefined && row.expires_at !== expires_at) {
    const end = row.expires_at === null ? 'never' : iso(row.expires_at)
    throw invalidField('/expires_at', 'out_of_range', `must not be later than the key expires now: ${end}`)
  }
  // Another call changed them in between, so they must be compared again.
  if (seen && !isSet(row, changes)) return changeKey(rt, key, body, change)
  return row
}

/** A key that must not lock itself out. */
function requireOwnNetwork({ id, actor, address }: { id: string } & Caller, networks: string[] | null | undefined) {
  const isOwn = actor.type === 'api_key' && actor.id === id
  if (isOwn && networks && !isInNetworks(address, networks)) throw wouldLockOut(address)
}

/**
 * For an API key that changes them: the networks and the limit that it makes narrower.
 *
 * @throws {Fault} `console_session_required` if it would make them wider; `not_found`
 */
async function boundsSeen(db: Db, { project_id, id, actor }: { project_id: string; id: string } & Caller, to: Changes) {
  if (actor.type !== 'api_key' || (to.allowed_networks === undefined && to.rate_limit === undefined)) return null
  const { allowed_networks, rate_limit } = requireFound(await run(db, findKey(db, { project_id, id })), 'API key')
  const seen: Bounds = { allowed_networks, rate_limit }
  const next: Bounds = { allowed_networks: to.allowed_networks ?? null, rate_limit: to.rate_limit ?? null }
  const isWider = to.allowed_networks !== undefined && !isWithinNetworks(next.allowed_networks, allowed_networks)
  if (isWider || (to.rate_limit !== undefined && isHigher(next, seen))) throw onlyNarrower()
  return seen
}

function isSet(row: Bounds, to: Changes): boolean {
  const sameNetworks =
    to.allowed_networks === undefined || JSON.stringify(row.allowed_networks) === JSON.stringify(to.allowed_networks)
  return sameNetworks && (to.rate_limit === undefined || row.rate_limit === to.rate_limit)
}

/**
 * Changes a live key. The same values again change nothing, and neither does an expiry that is later than the current
 * one, whatever else changes with it.
 *
 * @param key.seen the networks and the limit that the key must have for it; null: any
 * @returns the key as it is then
 * @throws {Fault} `not_found`
 */
async function updateKey(
  db: Db,
  { project_id, id, seen }: { project_id: string; id: string; seen: Bounds | null },
  { name, expires_at, allowed_networks, rate_limit }: Changes,
  change: Change,
): Promise<KeyRow> {
  const endsIf = (compare: typeof gt) =>
    expires_at === undefined ? undefined : or(isNull(apiKeys.expires_at), compare(apiKeys.expires_at, expires_at))
  const differs = or(
    name === undefined ? undefined : ne(apiKeys.name, name),
    endsIf(gt),
    allowed_networks === undefined ? undefined : sql`NOT ${hasNetworks(allowed_networks)}`,
    rate_limit === undefined ? undefined : sql`${apiKeys.rate_limit} IS NOT ${rate_limit}`,
  )
  const same = seen && and(hasNetworks(seen.allowed_networks), sql`${apiKeys.rate_limit} IS ${seen.rate_limit}`)
  const changing = and(
    keysOfProject(project_id, id),
    isNull(apiKeys.revoked_at),
    endsIf(gte),
    differs,
    same ?? undefined,
  )
  const details = {
    name,
    expires_at: expires_at === undefined ? undefined : iso(expires_at),
    allowed_networks,
    rate_limit,
  }
  const { rows } = await batch(db, {
    audit: auditedFrom(db, change, keyEntry(project_id, id, 'api_key.updated'), {
      taken: { project_id: apiKeys.project_id, details: withBefore(details) },
      from: sql`FROM ${apiKeys} WHERE ${changing}`,
    }),
    changed: db.update(apiKeys).set({ name, expires_at, allowed_networks, rate_limit }).where(changing),
    rows: findKey(db, { project_id, id }),
  })
  return requireFound(rows, 'API key')
}

/** Bytes of networks, as JSON, that an entry has as what a change replaced: with as many new ones, it must stay short. */
const MAX_NETWORKS_BEFORE = 600

/** The details of a change, with what it replaces, as an expression over the row of the key. */
function withBefore(details: Record<'name' | 'expires_at' | keyof Bounds, unknown>): SQL {
  const { name, expires_at, allowed_networks, rate_limit } = apiKeys
  const seconds = sql`${expires_at} / 1000.0`
  const stored = {
    name: sql`${name}`,
    expires_at: sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${seconds}, 'unixepoch')`,
    rate_limit: sql`${rate_limit}`,
  }
  const sent = Object.entries(stored).filter(([field]) => details[field as keyof typeof stored] !== undefined)
  const before = sql`json_object(${sql.join(
    sent.map(([field, value]) => sql`${field}, ${value}`),
    sql`, `,
  )})`
  const isShort = sql`coalesce(octet_length(${allowed_networks}), 0) <= ${MAX_NETWORKS_BEFORE}`
  const all =
    details.allowed_networks === undefined
      ? before
      : sql`iif(${isShort}, json_set(${before}, '$.allowed_networks', json(coalesce(${allowed_networks}, 'null'))), ${before})`
  return sql`json_set(${JSON.stringify(details)}, '$.before', json(${all}))`
}

function hasNetworks(networks: string[] | null): SQL {
  return sql`(${apiKeys.allowed_networks} IS ${networks && JSON.stringify(networks)})`
}
