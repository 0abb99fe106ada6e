import { expect } from 'vitest'
import * as z from 'zod'
import { app } from '../src/app'
import { type RouteEntry, routeTable } from '../src/http/openapi'
import { newId } from '../src/lib/ids'
import { insertObjects } from './billing/rows'
import { insertFeatures, insertPlan } from './catalog/rows'
import { insertConsumer, insertErased } from './consumers/rows'
import { insertDevice } from './devices/rows'
import { insertDomain } from './domains/rows'
import { insertGrants } from './entitlements/rows'
import {
  type Answer,
  addMember,
  call,
  DIRECTORY,
  deliver,
  freshKey,
  invited,
  lossyQueue,
  mailbox,
  mint,
  ORDINARY,
  type RequestOptions,
  STORE,
  stripeConnection,
  stripeEvent,
} from './harness'
import { insertConnection, insertIdentity } from './sso/rows'

/** Every route with an operation, as the app itself lists them: tests that walk it try a new route without being told. */
export const ROUTES = routeTable(app).filter(({ meta }) => meta.operation !== undefined)

export const nameOf = ({ method, path }: RouteEntry) => `${method} ${path}`
export const takesBody = ({ meta }: RouteEntry) => meta.body !== undefined
export const isList = ({ method, meta }: RouteEntry) =>
  method === 'GET' && meta.query instanceof z.ZodObject && 'cursor' in meta.query.shape

export type World = Awaited<ReturnType<typeof newWorld>>

/** A project with one of each thing that a path can name. */
export async function newWorld() {
  const { project, owner, key, secret } = await freshKey()
  const other = await mint(owner.token, project, { name: 'other', scopes: ORDINARY })
  const connection = await stripeConnection(owner.token, project)
  // The runner does not end while the real Queue has a batch on its way: this one loses the message.
  const receipt = await deliver(connection.id, stripeEvent(), { bindings: { EVENTS: lossyQueue().EVENTS } })
  const sessions = await call('/auth/sessions', { token: owner.token })
  const replay = newId('rpl', Date.now())
  await STORE.prepare('INSERT INTO replays (project_id, id, actor, queued) VALUES (?, ?, ?, 0)')
    .bind(project, replay, owner.user)
    .run()
  await Promise.all([
    insertObjects(project, 'subscription', ['sub_sample']),
    insertObjects(project, 'invoice', ['in_sample']),
    insertObjects(project, 'payment_method', ['pm_sample']),
  ])
  const member = await addMember(project, 'developer')
  const invitation = await invited(project)
  const [consumer, survivor] = await Promise.all([
    insertConsumer(project, 'sample'),
    insertConsumer(project, 'survivor'),
  ])
  const erased = await insertErased(project)
  const device = await insertDevice(project, consumer)
  await insertFeatures(project, 'sso', 'seats', 'unused')
  const plan = await insertPlan(project, 'pro')
  const grant = await insertGrants(project, consumer)
  const domain = await insertDomain(project)
  const own = await invited(project, { email: owner.email }) // of a member: accepting it changes nothing
  const passkey = await keptPasskey(owner.user)
  const sso = await insertConnection(project, { tested_revision: 1, audience: 'customers' })
  const identity = await insertIdentity(project, sso.id, consumer)
  const coOwner = await addMember(project, 'owner')
  return {
    consumer,
    survivor,
    erased,
    device,
    plan,
    grant,
    domain,
    passkey,
    sso,
    identity,
    coOwner,
    member,
    invitation,
    own,
    replay,
    project,
    owner,
    key,
    secret,
    other,
    connection,
    event: receipt.body.event_ids[0],
    session: sessions.body.data[0].id,
  }
}

/** The worlds of a file that walks the routes: all that only read share one, and each other gets one of its own. */
export function worldsByRoute() {
  let read: Promise<World> | undefined
  return ({ method }: Pick<RouteEntry, 'method'>): Promise<World> => {
    if (method !== 'GET') return newWorld()
    read ??= newWorld()
    return read
  }
}

const PASSKEY = { id: 'AAAA', rawId: 'AAAA', type: 'public-key', clientExtensionResults: {} }
const PASSKEY_MADE = { ...PASSKEY, response: { clientDataJSON: 'e30', attestationObject: 'oA', transports: ['usb'] } }
const PASSKEY_USED = { ...PASSKEY, response: { clientDataJSON: 'e30', authenticatorData: 'AAAA', signature: 'AAAA' } }

/** A passkey of a user, and sessions in which one was used, written to the database. No authenticator has it. */
async function keptPasskey(user: string): Promise<string> {
  const id = newId('psk', Date.now())
  await DIRECTORY.batch([
    DIRECTORY.prepare(
      `INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name, created_at, backed_up)
       VALUES (?1, ?2, ?1, '', 0, '[]', 'sample', 1, 0)`,
    ).bind(id, user),
    DIRECTORY.prepare('UPDATE sessions SET second_factor_at = 1 WHERE user_id = ?').bind(user),
  ])
  return id
}

/** A body that is accepted, and the status that answers it, for each route with a JSON body. */
export const SAMPLES: Record<string, { json: Record<string, unknown>; status: number }> = {
  'POST /platform/v1/api-keys': { json: { name: 'sample', scopes: ['billing:read'], expires_at: null }, status: 201 },
  'PATCH /platform/v1/api-keys/:id': { json: { name: 'sample' }, status: 200 },
  'POST /platform/v1/projects': { json: { name: 'sample' }, status: 201 },
  'PATCH /platform/v1/projects/:id': { json: { name: 'sample' }, status: 200 },
  'PATCH /platform/v1/members/:user_id': { json: { role: 'viewer' }, status: 200 },
  'POST /platform/v1/invitations': {
    json: { email: 'sample@example.com', role: 'viewer', expires_in_days: 1 },
    status: 201,
  },
  'POST /platform/v1/sso/connections': {
    json: {
      audience: 'team',
      name: 'sample',
      issuer: 'https://sample.plain.dev',
      client_id: 'rp',
      client_secret: 's3cret',
      auth_method: 'client_secret_post',
      scopes: ['openid'],
      claims: { email: 'email', name: 'name' },
      domain_ids: [],
      default_role: 'viewer',
    },
    status: 201,
  },
  'PATCH /platform/v1/sso/connections/:id': {
    json: {
      name: 'sample',
      client_id: 'other',
      client_secret: 's3cret',
      auth_method: 'client_secret_basic',
      scopes: ['openid'],
      claims: { email: 'email', name: 'name' },
      domain_ids: [],
      create_consumers: true,
      redirect_uris: ['https://app.acme.dev/callback'],
    },
    status: 200,
  },
  'POST /platform/v1/consumers': {
    json: { external_id: 'new', email: 'sample@example.com', name: 'sample', metadata: { team: 'a' } },
    status: 201,
  },
  'PUT /platform/v1/consumers/:consumer': {
    json: { email: 'sample@example.com', name: 'sample', metadata: {} },
    status: 200,
  },
  'PATCH /platform/v1/consumers/:consumer': {
    json: { external_id: 'another', email: null, name: null, metadata: { team: 'b' } },
    status: 200,
  },
  'POST /platform/v1/consumers/:consumer/block': { json: { reason: 'sample' }, status: 200 },
  'POST /platform/v1/consumers/:consumer/unblock': { json: { reason: 'sample' }, status: 200 },
  'POST /platform/v1/consumers/:consumer/merge': { json: { into: 'ext:survivor' }, status: 200 },
  'PUT /platform/v1/consumers/:consumer/devices/:device': {
    json: {
      platform: 'ios',
      name: 'sample',
      model: 'sample',
      os_version: '1',
      app_version: '1',
      new_token: true,
      when_full: 'replace_oldest',
    },
    status: 200,
  },
  'POST /platform/v1/devices/verify': { json: { token: `svc_dv_${'0'.repeat(64)}`, features: ['sso'] }, status: 200 },
  'POST /platform/v1/consumers/:consumer/entitlements/token': { json: { ttl_s: 60, features: ['sso'] }, status: 201 },
  'POST /platform/v1/billing/entitlement-keys/rotate': { json: { compromised: false }, status: 200 },
  'POST /platform/v1/billing/connections': {
    json: { vendor: 'stripe', name: 'sample', livemode: true, signing_secret: 'whsec_0123456789' },
    status: 201,
  },
  'PUT /platform/v1/billing/features/:key': { json: { name: 'sample', type: 'boolean' }, status: 200 },
  'POST /platform/v1/billing/plans': {
    json: {
      key: 'sample',
      name: 'sample',
      rank: 1,
      state: 'active',
      features: { seats: { value: 5, per_seat: true } },
      prices: [{ vendor: 'stripe', ref: 'price_sample' }],
    },
    status: 201,
  },
  'PATCH /platform/v1/billing/plans/:id': {
    json: { key: 'sample', name: 'sample', rank: 1, state: 'archived', features: {}, prices: [] },
    status: 200,
  },
  'POST /platform/v1/billing/plans/:id/preview': { json: { rank: 2, features: {}, prices: [] }, status: 200 },
  'POST /platform/v1/billing/entitlements/check': {
    json: { consumers: ['ext:sample', 'ext:nobody'], features: ['sso', 'seats'] },
    status: 200,
  },
  'POST /platform/v1/billing/grants': {
    json: {
      consumer: 'ext:sample',
      feature: 'seats',
      value: 5,
      effect: 'allow',
      starts_at: '2026-01-01T00:00:00Z',
      expires_at: '2099-01-01T00:00:00Z',
      reason: 'sample',
    },
    status: 201,
  },
  // Well-formed, but the project has no connection and no code.
  'POST /platform/v1/sso/authorize': {
    json: {
      connection_id: 'sso_01kc5rb2c4d6e8f0g1h3j5k7m9',
      redirect_uri: 'https://app.example.com/sso',
      state: 'sample',
      login_hint: 'sample@example.com',
    },
    status: 404,
  },
  'POST /platform/v1/sso/token': {
    json: { code: '0'.repeat(64), redirect_uri: 'https://app.example.com/sso' },
    status: 400,
  },
  'POST /platform/v1/domains': { json: { hostname: 'sample.dev', purpose: 'surface' }, status: 201 },
  'PUT /platform/v1/billing/customers/:vendor/:id': { json: { consumer: 'ext:sample' }, status: 200 },
  'PATCH /platform/v1/billing/connections/:id': { json: { name: 'sample', status: 'active' }, status: 200 },
  'POST /platform/v1/billing/connections/:id/secrets': { json: { signing_secret: 'whsec_9876543210' }, status: 201 },
  'POST /platform/v1/billing/webhooks/replay': { json: { filter: {}, limit: 10, dry_run: true }, status: 200 },
  'POST /auth/codes': { json: { email: 'sample@example.com' }, status: 202 },
  // Well-formed, but no such code was sent.
  'POST /auth/session/confirm': { json: { challenge: 'chl_sample', code: 'ABCD1234' }, status: 401 },
  'PATCH /auth/user': { json: { notices: true }, status: 200 },
  // Well-formed, but nobody has such a passkey, or such a code.
  'POST /auth/passkeys': { json: { name: 'sample', credential: PASSKEY_MADE }, status: 422 },
  'PATCH /auth/passkeys/:id': { json: { name: 'sample' }, status: 200 },
  'POST /auth/sessions/passkey': { json: { credential: PASSKEY_USED }, status: 401 },
  'POST /auth/session/passkey': { json: { credential: PASSKEY_USED }, status: 401 },
  'POST /auth/session/recovery-code': { json: { code: '00000-00000' }, status: 401 },
  'POST /auth/sessions': { json: { challenge: 'chl_sample', code: 'ABCD1234' }, status: 401 },
}

/** A query that is accepted, for each route that requires one. */
export const QUERIES: Record<string, string> = { 'DELETE /platform/v1/projects/:id': 'name=Test' }

/** The path of a route, its parameters filled in with ids that the world has. */
export function pathIn(world: World, { path }: RouteEntry): string {
  const ids: Record<string, string> = {
    '/platform/v1/api-keys/:id': world.other.key.id,
    '/platform/v1/projects/:id': world.project,
    '/platform/v1/members/:user_id': path.endsWith('/break-glass') ? world.coOwner.user : world.member.user,
    '/platform/v1/sso/connections/:id': world.sso.id,
    '/platform/v1/sso/connections/:id/tests/:test': world.sso.test,
    '/platform/v1/sso/identities/:id': world.sso.identity,
    '/platform/v1/invitations/:id': world.invitation.id,
    '/auth/invitations/:id': world.own.id,
    '/platform/v1/consumers/:consumer': path.endsWith('/erasure') ? world.erased : 'ext:sample',
    // Its id is its installation id as well.
    '/platform/v1/consumers/:consumer/devices/:device': world.device,
    '/platform/v1/billing/features/:key': 'unused',
    '/platform/v1/billing/plans/:id': world.plan,
    '/platform/v1/billing/grants/:id': world.grant,
    '/platform/v1/domains/:id': world.domain,
    '/platform/v1/billing/connections/:id': world.connection.id,
    '/platform/v1/billing/connections/:id/secrets/:secret_id': world.connection.secrets[0]?.id ?? '',
    '/platform/v1/billing/webhooks/:event_id': world.event,
    '/platform/v1/billing/webhooks/replays/:replay_id': world.replay,
    '/platform/v1/billing/subscriptions/:id': 'sub_sample',
    '/platform/v1/billing/invoices/:id': 'in_sample',
    '/platform/v1/billing/payment-methods/:id': 'pm_sample',
    '/platform/v1/billing/customers/:vendor': 'stripe',
    '/platform/v1/billing/customers/:vendor/:id': 'cus_1',
    '/auth/sessions/:id': world.session,
    '/auth/passkeys/:id': world.passkey,
    '/ingest/:connection_id': world.connection.id,
    '/p/:project': world.project,
  }
  const parts = path.split('/')
  return parts
    .map((part, index) => (part.startsWith(':') ? (ids[parts.slice(0, index + 1).join('/')] ?? 'none') : part))
    .join('/')
}

/** A good request to a route: the path, the method, a body where it takes one. The caller adds the credential. */
export function callRoute(
  world: World,
  route: RouteEntry,
  { query, bindings, ...options }: RequestOptions & { query?: string } = {},
): Promise<Answer> {
  const sample = takesBody(route) ? SAMPLES[nameOf(route)] : undefined
  const sent = [QUERIES[nameOf(route)], query].filter((part) => part !== undefined).join('&')
  return call(pathIn(world, route) + (sent === '' ? '' : `?${sent}`), {
    method: route.method,
    project: world.project,
    ...(sample && options.body === undefined && { json: sample.json }),
    ...options,
    bindings: { EVENTS: lossyQueue().EVENTS, EMAIL: mailbox().EMAIL, ...bindings },
  })
}

/** The statuses that a sample is answered with: a success, or what it states where a sample cannot succeed. */
export function expectSampled(route: RouteEntry, { status, text }: Answer): void {
  const stated = SAMPLES[nameOf(route)]?.status ?? 200
  if (stated < 300) expect(status, text).toBeLessThan(300)
  else expect(status, text).toBe(stated)
}

/** A credential that the route accepts: the owner's session where sessions may call it, else the key. */
export function tokenFor(world: World, { path, meta }: RouteEntry): string | null {
  if (path === '/auth/user') return world.member.token // the only owner of a project cannot delete the account
  const actors = meta.operation?.policy?.actors
  if (!actors) return null
  return actors.includes('session') ? world.owner.token : world.secret
}
