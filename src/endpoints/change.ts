import { and, eq, ne, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { audited, type Change } from '../audit/store'
import { changes, changesEpoch } from '../changes/schema'
import { batch, type Db } from '../db/client'
import { insertWhere } from '../db/insert-where'
import type { Runtime } from '../env'
import { MOST_AT_ONCE } from '../followers/limits'
import { type Relay, webhookEndpoints } from '../followers/schema'
import { ourHosts } from '../http/our-hosts'
import { invalidField } from '../http/validate'
import { keptWith } from '../idempotency/claim'
import { Fault, notFound } from '../lib/fault'
import { AddressRefusal, outsideUrl } from '../lib/fetch-outside'
import { newId } from '../lib/ids'
import { isLocalhost } from '../lib/localhost'
import { type EndpointRow, endpointEntry, findEndpoint } from './endpoint'
import { MAX_ENDPOINTS } from './limits'
import { newSealedSecret } from './secrets'
import { type EndpointOf, isEndpoint } from './work'

const c = alias(changes, 'c')

export type NewEndpoint = {
  url: string
  types: string[]
  relay: Relay | null
  ordered: boolean
  include_object: boolean
}
export type EndpointChanges = {
  [K in keyof NewEndpoint]?: NewEndpoint[K] | undefined
} & { state?: 'active' | 'disabled' | undefined }

/** @throws {Fault} `validation_failed` for an address that nothing is sent to */
export function requireAddress({ settings }: Runtime, url: string | undefined): void {
  if (url === undefined) return
  try {
    outsideUrl(url, ourHosts(settings))
  } catch (error) {
    if (!(error instanceof AddressRefusal)) throw error
    const isHere = isLocalhost(URL.parse(url)?.hostname ?? '')
    const hint = isHere ? '. For a server on your own machine, use `npm run listen`' : ''
    throw invalidField('/url', 'malformed', error.fault + hint)
  }
}

/**
 * Creates an endpoint. It gets what changes from now on.
 *
 * @param fields.id a new id from this service, for a form that may be sent twice
 * @returns the secret, which is null if the endpoint with this id was created before
 * @throws {Fault} `endpoint_limit_reached`, `encryption_key_unavailable`
 */
export async function createEndpoint(
  rt: Runtime,
  project_id: string,
  { id: given, ...fields }: NewEndpoint & { id?: string },
  change: Change,
): Promise<{ row: EndpointRow; secret: string | null }> {
  const { db } = rt
  const id = given ?? newId('whe', change.now)
  const { secret, stored } = await newSealedSecret(rt, { project_id, endpoint_id: id }, change)
  const row = {
    ...fields,
    project_id,
    id,
    secrets: [stored],
    created_at: change.now,
    created_by: change.actor.id,
    epoch: sql`(SELECT ${changesEpoch.epoch} FROM ${changesEpoch})`,
    position: sql`coalesce((SELECT max(${c.seq}) FROM ${changes} ${c} WHERE ${c.project_id} = ${project_id}), 0)`,
  }
  const count = db.$count(webhookEndpoints, eq(webhookEndpoints.project_id, project_id))
  const { url, types, relay } = fields
  const { rows } = await batch(db, {
    ...audited(
      db,
      change,
      endpointEntry(project_id, id, 'webhook_endpoint.created', relay ? { url, relay } : { url, types }),
      insertWhere(
        db,
        webhookEndpoints,
        row,
        sql`${count} < ${MAX_ENDPOINTS} AND NOT EXISTS ${findEndpoint(db, project_id, id)}`,
      ),
    ),
    ...keptWith(db, change, id),
    rows: findEndpoint(db, project_id, id),
  })
  if (rows[0]) return { row: rows[0], secret: rows[0].secrets.some((one) => one.id === stored.id) ? secret : null }
  throw new Fault('endpoint_limit_reached', `A project can have ${MAX_ENDPOINTS} webhook endpoints. Delete one first.`)
}

/**
 * Changes an endpoint, if its types are still what they were when the caller's right to it was checked. One that is enabled goes on from
 * where it was, and is tried at once.
 *
 * @returns null if its types have changed meanwhile
 * @throws {Fault} `not_found`
 */
export async function updateEndpoint(
  db: Db,
  of: EndpointOf,
  { asRead, changes }: { asRead: readonly string[]; changes: EndpointChanges },
  change: Change,
): Promise<EndpointRow | null> {
  const { state, ...fields } = changes
  const same = eq(webhookEndpoints.types, [...asRead])
  const fresh = { failures: 0, failing_since: null, not_before: 0, at_once: MOST_AT_ONCE, woken_at: 0 }
  const lease = { lease_token: null, lease_until: 0 }
  const updated = db
    .update(webhookEndpoints)
    .set({
      ...fields,
      // A worker that sends to it now has lost it: what it has sent in the last second may be sent again.
      ...lease,
      ...(state === 'active' && { state, disabled_reason: null, ...fresh }),
      ...(state === 'disabled' && {
        state,
        disabled_reason: sql`iif(${webhookEndpoints.state} = 'disabled', ${webhookEndpoints.disabled_reason}, 'requested')`,
      }),
    })
    .where(and(isEndpoint(of), same, differs(changes)))
  const { project_id, endpoint_id } = of
  const details = Object.fromEntries(Object.entries({ ...fields, state }).filter(([, value]) => value !== undefined))
  const { changed, rows } = await batch(db, {
    ...audited(
      db,
      change,
      endpointEntry(project_id, endpoint_id, 'webhook_endpoint.updated', details),
      updated.returning({ id: webhookEndpoints.id }),
    ),
    rows: findEndpoint(db, project_id, endpoint_id),
  })
  if (!rows[0]) throw notFound('Webhook endpoint')
  const isAsRead = JSON.stringify(rows[0].types) === JSON.stringify(asRead)
  return changed.length > 0 || isAsRead ? rows[0] : null
}

/** Whether an endpoint is not yet what the changes make of it. */
function differs({ url, types, relay, ordered, include_object, state }: EndpointChanges): SQL | undefined {
  const e = webhookEndpoints
  return or(
    url === undefined ? undefined : ne(e.url, url),
    types === undefined ? undefined : ne(e.types, types),
    relay === undefined || relay === null ? undefined : ne(e.relay, relay),
    ordered === undefined ? undefined : ne(e.ordered, ordered),
    include_object === undefined ? undefined : ne(e.include_object, include_object),
    state === undefined ? undefined : ne(e.state, state),
  )
}

/** Deletes an endpoint. What is kept of its deliveries goes with the next housekeeping. @throws {Fault} `not_found` */
export async function deleteEndpoint(db: Db, of: EndpointOf, change: Change): Promise<void> {
  const { project_id, endpoint_id } = of
  const gone = db.delete(webhookEndpoints).where(isEndpoint(of)).returning({ id: webhookEndpoints.id })
  const about = endpointEntry(project_id, endpoint_id, 'webhook_endpoint.deleted')
  const { changed } = await batch(db, audited(db, change, about, gone))
  if (changed.length === 0) throw notFound('Webhook endpoint')
}
