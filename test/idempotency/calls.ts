import { newId } from '../../src/lib/ids'
import { insertFeatures } from '../catalog/rows'
import { insertConsumer } from '../consumers/rows'
import { insertDevice } from '../devices/rows'
import { insertEndpoint } from '../endpoints/rows'
import {
  type Answer,
  call,
  DIRECTORY,
  deliver,
  freshEmail,
  freshKey,
  freshProject,
  invited,
  lossyQueue,
  mailbox,
  mint,
  type RequestOptions,
  STORE,
  stripeConnection,
  stripeEvent,
} from '../harness'
import { rowsOfAll } from '../inbox/pipeline'

const API = '/platform/v1'

/** A request that makes something, and the same for another body. */
export type Tried = { path: string; json?: Record<string, unknown>; other?: Record<string, unknown> }
/** A project, whose requests are sent with this credential. */
export type Place = { project: string; token: string; owner: { token: string; user: string } }

/** What is stated of a call that takes Idempotency-Key. */
export type Stated = {
  /** The entry that one request leaves in the audit log; null if it leaves none. */
  action: string | null
  /** The table in which it adds a row. */
  table?: string
  status: number
  /** The n-th request of a place, which makes something else than those before it. It makes room for that. */
  request: (place: Place, n: number) => Promise<Tried> | Tried
  /** Whether each repeat is refused, or may be. */
  repeat?: 'refused' | 'perhaps'
  /** By a session, not by an API key. */
  person?: true
}

const name = (n: number) => `no${n}`

export const STATED: Record<string, Stated> = {
  mintApiKey: {
    action: 'api_key.minted',
    table: 'api_keys',
    status: 201,
    person: true,
    repeat: 'perhaps',
    request: (_, n) => ({
      path: `${API}/api-keys`,
      json: { name: name(n), scopes: ['billing:read'] },
      other: { name: name(n), scopes: ['billing:read', 'billing:write'] },
    }),
  },
  rotateApiKey: {
    action: 'api_key.rotated',
    status: 200,
    repeat: 'refused',
    request: async ({ project, owner }) => {
      const { key } = await mint(owner.token, project, { scopes: ['billing:read'] })
      return { path: `${API}/api-keys/${key.id}/rotate` }
    },
  },
  rotateDevice: {
    action: 'device.rotated',
    status: 200,
    repeat: 'refused',
    request: async ({ project }) => {
      const consumer = await insertConsumer(project)
      return { path: `${API}/consumers/${consumer}/devices/${await insertDevice(project, consumer)}/rotate` }
    },
  },
  createWebhookEndpoint: {
    action: 'webhook_endpoint.created',
    table: 'webhook_endpoints',
    status: 201,
    request: async ({ project }, n) => {
      await STORE.prepare('DELETE FROM webhook_endpoints WHERE project_id = ?').bind(project).run()
      const json = { url: `https://${name(n)}.plain.dev/hook`, types: ['consumer.*'] }
      return { path: `${API}/webhook-endpoints`, json, other: { ...json, types: ['plan.*'] } }
    },
  },
  addWebhookSecret: {
    action: 'webhook_endpoint.secret_added',
    status: 201,
    request: async (place) => ({
      path: `${API}/webhook-endpoints/${(await insertEndpoint(place.project, place.owner.user)).id}/secrets`,
    }),
  },
  resendWebhookDelivery: {
    action: 'webhook_endpoint.resent',
    table: 'resends',
    status: 202,
    request: async (place) => {
      const { id } = await insertEndpoint(place.project, place.owner.user)
      const consumer = await insertConsumer(place.project)
      const number = await STORE.prepare(
        `SELECT max(seq) AS seq FROM changes WHERE project_id = ? AND items ->> '$[0].id' = ?`,
      )
        .bind(place.project, consumer)
        .first<number>('seq')
      return { path: `${API}/webhook-endpoints/${id}/deliveries/${number}/resend` }
    },
  },
  resendWebhookChanges: {
    action: 'webhook_endpoint.resent',
    table: 'resends',
    status: 202,
    request: async (place) => {
      const { id } = await insertEndpoint(place.project, place.owner.user)
      const json = { after: 0, until: 1 }
      return { path: `${API}/webhook-endpoints/${id}/resend`, json, other: { ...json, failed_only: true } }
    },
  },
  createProject: {
    action: 'project.created',
    table: 'projects',
    status: 201,
    person: true,
    request: (_, n) => ({ path: `${API}/projects`, json: { name: name(n) }, other: { name: 'Other' } }),
  },
  createInvitation: {
    action: 'member.invited',
    table: 'invitations',
    status: 201,
    request: () => {
      const json = { email: freshEmail(), role: 'viewer' }
      return { path: `${API}/invitations`, json, other: { ...json, role: 'developer' } }
    },
  },
  resendInvitation: {
    action: 'invitation.resent',
    status: 202,
    request: async ({ project }) => ({ path: `${API}/invitations/${(await invited(project)).id}/resend` }),
  },
  addDomain: {
    action: 'domain.added',
    table: 'domains',
    status: 201,
    request: (_, n) => ({
      path: `${API}/domains`,
      json: { hostname: `${name(n)}.dev`, purpose: 'surface' },
      other: { hostname: `${name(n)}.dev`, purpose: 'sso' },
    }),
  },
  createSsoConnection: {
    action: 'sso_connection.created',
    table: 'sso_connections',
    status: 201,
    request: async ({ project }, n) => {
      await DIRECTORY.prepare('DELETE FROM sso_connections WHERE project_id = ?').bind(project).run()
      const json = { audience: 'team', name: name(n), issuer: 'https://sample.plain.dev', client_id: 'rp' }
      return { path: `${API}/sso/connections`, json, other: { ...json, client_id: 'other' } }
    },
  },
  createConsumer: {
    action: null,
    table: 'consumers',
    status: 201,
    // Every other one has no id of its own that could refuse a second one.
    request: (_, n) => ({
      path: `${API}/consumers`,
      json: { name: name(n), ...(n % 2 === 0 && { external_id: name(n) }) },
      other: { name: 'Other' },
    }),
  },
  createPlan: {
    action: 'plan.created',
    table: 'plans',
    status: 201,
    request: (_, n) => {
      const json = { key: name(n), name: name(n), prices: [{ vendor: 'stripe', ref: `price_${n}` }] }
      return { path: `${API}/billing/plans`, json, other: { ...json, name: 'Other' } }
    },
  },
  createGrant: {
    action: 'grant.created',
    table: 'grants',
    status: 201,
    request: async ({ project }, n) => {
      if (n === 0) {
        await insertFeatures(project, 'sso')
        await insertConsumer(project, 'sample')
      }
      const json = { consumer: 'ext:sample', feature: 'sso' }
      return { path: `${API}/billing/grants`, json, other: { ...json, effect: 'deny' } }
    },
  },
  rotateEntitlementKey: {
    action: 'entitlement_key.rotated',
    status: 200,
    person: true,
    request: () => ({
      path: `${API}/billing/entitlement-keys/rotate`,
      json: { compromised: true },
      other: { compromised: false },
    }),
  },
  createConnection: {
    action: 'connection.created',
    table: 'connections',
    status: 201,
    request: (_, n) => {
      const json = { vendor: 'stripe', name: name(n), livemode: true }
      return { path: `${API}/billing/connections`, json, other: { ...json, livemode: false } }
    },
  },
  addSigningSecret: {
    action: 'connection.secret_added',
    status: 201,
    request: async ({ project, token }, n) => {
      if (n === 0) await stripeConnection(token, project)
      await STORE.prepare("UPDATE connections SET secrets = '[]' WHERE project_id = ?").bind(project).run()
      const id = await STORE.prepare('SELECT id FROM connections WHERE project_id = ?').bind(project).first('id')
      const path = `${API}/billing/connections/${id}/secrets`
      return { path, json: { signing_secret: `whsec_0123456789_${n}` }, other: { signing_secret: 'whsec_9876543210' } }
    },
  },
  startImport: {
    action: 'import.started',
    table: 'vendor_runs',
    status: 202,
    request: async ({ project, token, owner }, n) => {
      if (n === 0) {
        const { id } = await stripeConnection(token, project)
        await STORE.prepare(
          `INSERT INTO vendor_keys (project_id, connection_id, key, box, hint, livemode, permissions, state, added_by, checked_at, created_at)
           VALUES (?, ?, 1, '', 'test', 1, '{}', 'ok', ?, 1, 1)`,
        )
          .bind(project, id, owner.user)
          .run()
      }
      await STORE.prepare("UPDATE vendor_runs SET state = 'done', due_at = NULL, finished_at = 1 WHERE project_id = ?")
        .bind(project)
        .run()
      const id = await STORE.prepare('SELECT id FROM connections WHERE project_id = ?').bind(project).first('id')
      const path = `${API}/billing/connections/${id}/imports`
      return { path, json: { kinds: ['customers'] }, other: { kinds: ['invoices'] } }
    },
  },
  replayWebhookEvents: {
    action: 'events.replayed',
    table: 'replays',
    status: 202,
    request: async (place, n) => {
      await processed(place, n)
      return { path: `${API}/billing/webhooks/replay`, json: { filter: {}, limit: 1 }, other: { filter: {}, limit: 2 } }
    },
  },
  replayWebhookEvent: {
    action: 'event.replayed',
    table: 'replays',
    status: 202,
    request: async (place, n) => {
      await processed(place, n)
      const id = await STORE.prepare('SELECT id FROM events WHERE project_id = ?').bind(place.project).first('id')
      return { path: `${API}/billing/webhooks/${id}/replay` }
    },
  },
}

/** The events of a place, two of them, can be replayed, and no replay is running. */
async function processed({ project, token }: Place, n: number) {
  if (n === 0) {
    const { id } = await stripeConnection(token, project)
    for (let i = 0; i < 2; i++) await deliver(id, stripeEvent(), { bindings: { EVENTS: lossyQueue().EVENTS } })
  }
  await STORE.batch([
    STORE.prepare("UPDATE events SET status = 'processed', due_at = NULL WHERE project_id = ?").bind(project),
    STORE.prepare('UPDATE replays SET processed = queued, day_events = 0 WHERE project_id = ?').bind(project),
  ])
}

/** A new project for the requests of a call. */
export async function placeOf({ person }: Stated): Promise<Place> {
  if (person) {
    const { project, owner } = await freshProject()
    return { project, owner, token: owner.token }
  }
  const { project, owner, secret } = await freshKey()
  return { project, owner, token: secret }
}

/** Sends a request with a key, which is null for none. */
export function sent(
  place: Place,
  { path, json }: Tried,
  key: string | null,
  { bindings, headers, ...options }: RequestOptions = {},
): Promise<Answer> {
  return call(path, {
    method: 'POST',
    token: place.token,
    project: path.endsWith('/projects') ? null : place.project,
    ...(json !== undefined && { json }),
    ...options,
    headers: { ...headers, ...(key !== null && { 'Idempotency-Key': key }) },
    bindings: { EVENTS: lossyQueue().EVENTS, EMAIL: mailbox().EMAIL, ...bindings },
  })
}

/** How many rows a call's table has in all databases, and how many entries of it the audit log has. */
export async function madeBy({ action, table }: Stated) {
  const entries = await rowsOfAll<{ id: string }>(`SELECT object_id AS id FROM audit_log WHERE action = '${action}'`)
  const objects = table === undefined ? [] : await rowsOfAll<{ id: string }>(`SELECT id FROM ${table}`)
  // A project in another store has a row there and one in the directory. Without the second one, nobody reaches it, and the cron removes it.
  const { results } = await DIRECTORY.prepare('SELECT id FROM projects').all<{ id: string }>()
  const there = new Set(results.map(({ id }) => id))
  const reached = ({ id }: { id: string }) => table !== 'projects' || there.has(id)
  return { objects: new Set(objects.filter(reached).map(({ id }) => id)).size, entries: entries.filter(reached).length }
}

export const newIdempotencyKey = () => newId('req', Date.now())
