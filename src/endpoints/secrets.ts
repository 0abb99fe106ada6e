import { and, eq, sql } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Db } from '../db/client'
import { hasItem, withItem, withoutItem } from '../db/list-column'
import type { Runtime } from '../env'
import { type EndpointSecret, webhookEndpoints } from '../followers/schema'
import { keptWith } from '../idempotency/claim'
import { keyUnavailable, requireSealingKey } from '../inbox/connections/sealing'
import { Fault, notFound, requireFound } from '../lib/fault'
import { newId } from '../lib/ids'
import { seal, sealContext, unseal } from '../lib/seal'
import { type EndpointRow, endpointEntry, findEndpoint } from './endpoint'
import { MAX_ENDPOINT_SECRETS, SECRET_HINT } from './limits'
import { newEndpointSecret } from './sign'
import { type Endpoint, type EndpointOf, isEndpoint } from './work'

/** A new secret for an endpoint, and how it is stored. @throws {Fault} `encryption_key_unavailable` */
export async function newSealedSecret(rt: Runtime, { project_id, endpoint_id }: EndpointOf, { actor, now }: Change) {
  await requireSealingKey(rt)
  const secret = newEndpointSecret()
  const id = newId('sec', now)
  const box = await seal(rt.settings.encryptionKeys, secret, sealContext(project_id, endpoint_id, id))
  const stored: EndpointSecret = { id, hint: secret.slice(-SECRET_HINT), created_at: now, added_by: actor.id, ...box }
  return { secret, stored }
}

/** The secrets of an endpoint that can be opened. @throws {Fault} `encryption_key_unavailable` if none can */
export async function secretsOf({ settings }: Runtime, { project_id, id, secrets }: Endpoint): Promise<string[]> {
  const opened = secrets.map((one) =>
    unseal(settings.encryptionKeys, one, sealContext(project_id, id, one.id)).catch(() => null),
  )
  const live = (await Promise.all(opened)).filter((secret) => secret !== null)
  if (live.length === 0) throw keyUnavailable(`The encryption keys do not open the secrets of the endpoint ${id}.`)
  return live
}

/**
 * Adds a secret to an endpoint, which signs from now on, beside the others.
 *
 * @throws {Fault} `not_found`, `secret_limit_reached`, `encryption_key_unavailable`
 */
export async function addEndpointSecret(
  rt: Runtime,
  of: EndpointOf,
  change: Change,
): Promise<{ row: EndpointRow; secret: string }> {
  const { db } = rt
  const { secret, stored } = await newSealedSecret(rt, of, change)
  const room = sql`json_array_length(${webhookEndpoints.secrets}) < ${MAX_ENDPOINT_SECRETS}`
  const added = db
    .update(webhookEndpoints)
    .set({ secrets: withItem(webhookEndpoints.secrets, stored) })
    .where(and(isEndpoint(of), room))
  const { project_id, endpoint_id } = of
  const { rows } = await batch(db, {
    ...audited(
      db,
      change,
      endpointEntry(project_id, endpoint_id, 'webhook_endpoint.secret_added', { secret_id: stored.id }),
      added,
    ),
    ...keptWith(db, change, endpoint_id),
    rows: findEndpoint(db, project_id, endpoint_id),
  })
  const row = requireFound(rows, 'Webhook endpoint')
  if (row.secrets.some(({ id }) => id === stored.id)) return { row, secret }
  throw new Fault('secret_limit_reached', `An endpoint can have ${MAX_ENDPOINT_SECRETS} secrets. Remove one first.`)
}

/** Removes a secret: it signs nothing from now on. @throws {Fault} `not_found`; `last_secret` */
export async function removeEndpointSecret(db: Db, of: EndpointOf, secretId: string, change: Change): Promise<void> {
  const { project_id, endpoint_id } = of
  const { secrets } = webhookEndpoints
  const removed = db
    .update(webhookEndpoints)
    .set({ secrets: withoutItem(secrets, secretId) })
    .where(and(isEndpoint(of), hasItem(secrets, secretId), sql`json_array_length(${secrets}) > 1`))
    .returning({ id: webhookEndpoints.id })
  const about = endpointEntry(project_id, endpoint_id, 'webhook_endpoint.secret_removed', { secret_id: secretId })
  const { changed, rows } = await batch(db, {
    ...audited(db, change, about, removed),
    rows: db.select({ secrets }).from(webhookEndpoints).where(isEndpoint(of)),
  })
  if (changed.length > 0) return
  const row = requireFound(rows, 'Webhook endpoint')
  if (!row.secrets.some(({ id }) => id === secretId)) throw notFound('Secret', 'on this endpoint')
  throw new Fault('last_secret', 'An endpoint always has a secret. Add another one first, or delete the endpoint.')
}

/** Replaces the secrets of an endpoint with the same ones, resealed, if they are still those. */
export function secretsReplaced(db: Db, { project_id, id, secrets }: Endpoint, renewed: EndpointSecret[]) {
  const same = eq(webhookEndpoints.secrets, secrets)
  return db
    .update(webhookEndpoints)
    .set({ secrets: renewed })
    .where(and(isEndpoint({ project_id, endpoint_id: id }), same))
}
