import { newSecret } from '../../src/api-keys/secret'
import { newId } from '../../src/lib/ids'
import { DAY } from '../../src/lib/time'
import { newSessionToken } from '../../src/sessions/secret'
import {
  addMember,
  call,
  D1_FULL,
  D1_LOST,
  DIRECTORY,
  expiredKey,
  failingD1,
  freshConnection,
  freshKey,
  freshProject,
  KEYS,
  LIMIT_REACHED,
  mint,
  ORIGIN,
  OUR_MISTAKE,
  PROJECTS,
  revokedKey,
  rotatedKey,
  signedIn,
} from '../harness'
import type { Faults } from '../routes/row'
import { FAULTS_OF_ROUTES } from '../routes/table'
import { enforced, ssoMember, team } from '../sso/team/team'
import { crowdedOut, stalled } from './arriving'

const newIngest = async () => `/ingest/${(await freshConnection()).connection.id}`

/** Creates a consumer with an Idempotency-Key. */
function keyed({ project, secret }: { project: string; secret: string }, key: string, json: { name: string }) {
  const headers = { 'Idempotency-Key': key }
  return call('/platform/v1/consumers', { method: 'POST', project, token: secret, json, headers })
}

/** For each fault, a request that is refused with it. Those that some route alone has are in its row. */
export const PRODUCERS: Faults = {
  ...FAULTS_OF_ROUTES,
  invalid_json: async () => {
    const { token } = await signedIn()
    const headers = { 'Content-Type': 'application/json' }
    return call(PROJECTS, { method: 'POST', token, body: '{"name":', headers })
  },
  body_incomplete: async () => {
    const cut = new ReadableStream({ pull: (controller) => controller.error(new Error('Network connection lost.')) })
    return call(await newIngest(), { method: 'POST', body: cut })
  },
  body_timeout: async () => stalled(await newIngest()),
  overloaded: async () => crowdedOut(await newIngest()),
  https_required: () => call(`${ORIGIN.replace('https:', 'http:')}${PROJECTS}`),
  invalid_cursor: async () => call(`${PROJECTS}?cursor=nonsense`, { token: (await signedIn()).token }),
  invalid_idempotency_key: async () => keyed(await freshKey(), 'a key', { name: 'n' }),
  idempotency_not_supported: async () => {
    const { project, secret } = await freshKey()
    const headers = { 'Idempotency-Key': 'key' }
    const json = { consumer: 'ext:one', features: ['sso'] }
    return call('/platform/v1/billing/entitlements/check', { method: 'POST', project, token: secret, json, headers })
  },
  idempotency_key_reused: async () => {
    const world = await freshKey()
    await keyed(world, 'key', { name: 'one' })
    return keyed(world, 'key', { name: 'two' })
  },
  idempotent_result_gone: async () => {
    const { project, secret: token } = await freshKey()
    const path = '/platform/v1/billing/connections'
    const json = { vendor: 'stripe', name: 'gone', livemode: true }
    const create = () => call(path, { method: 'POST', project, token, json, headers: { 'Idempotency-Key': 'key' } })
    const { body } = await create()
    await call(`${path}/${body.id}`, { method: 'DELETE', project, token })
    return create()
  },
  project_required: async () => call(KEYS, { token: (await freshKey()).secret }),
  missing_credentials: async () => call(KEYS, { project: (await freshProject()).project }),
  malformed_credentials: async () => call(KEYS, { project: (await freshProject()).project, token: 'svc_v1_short' }),
  unknown_key: async () => call(KEYS, { project: (await freshProject()).project, token: (await newSecret(0)).secret }),
  network_not_allowed: async () => {
    const { project, owner } = await freshProject()
    const { secret } = await mint(owner.token, project, { allowed_networks: ['192.0.2.0/24'] })
    return call(KEYS, { project, token: secret })
  },
  key_rotated: async () => {
    const { project, secret } = await rotatedKey()
    return call(KEYS, { project, token: secret })
  },
  key_revoked: async () => {
    const { project, secret } = await revokedKey()
    return call(KEYS, { project, token: secret })
  },
  key_expired: async () => {
    const { project, secret } = await expiredKey()
    return call(KEYS, { project, token: secret })
  },
  wrong_project: async () => call(KEYS, { project: (await freshProject()).project, token: (await freshKey()).secret }),
  unknown_session: async () => call(PROJECTS, { token: newSessionToken() }),
  session_expired: async () => {
    const { token, user } = await signedIn()
    await DIRECTORY.prepare('UPDATE sessions SET expires_at = ? WHERE user_id = ?')
      .bind(Date.now() - 1, user)
      .run()
    return call(PROJECTS, { token })
  },
  insufficient_scope: async () => {
    const { project, owner } = await freshProject()
    const { secret } = await mint(owner.token, project, { scopes: ['billing:read'] })
    return call(KEYS, { project, token: secret })
  },
  insufficient_role: async () => {
    const { project } = await freshProject()
    const { token } = await addMember(project, 'viewer')
    return call(KEYS, { method: 'POST', project, token, json: { name: 'mine' } })
  },
  console_session_required: async () => {
    const { project, secret } = await freshKey()
    return call(KEYS, { method: 'POST', project, token: secret, json: { name: 'mine' } })
  },
  api_key_required: async () => {
    const { project, owner } = await freshProject()
    return call(`${KEYS}/self`, { project, token: owner.token })
  },
  not_a_member: async () => call(KEYS, { project: (await freshProject()).project, token: (await signedIn()).token }),
  sso_required: async () => {
    const { project } = await enforced()
    return call('/platform/v1/members', { project, token: (await addMember(project, 'owner')).token })
  },
  sso_session_limited: async () => call('/auth/events', { token: (await ssoMember(await team())).token }),
  not_found: () => call('/platform/v1/nothing-is-here'),
  method_not_allowed: () => call(KEYS, { method: 'PUT' }),
  payload_too_large: async () => {
    const { token } = await signedIn()
    return call(PROJECTS, { method: 'POST', token, json: { name: 'x'.repeat(65_536) } })
  },
  unsupported_media_type: async () => {
    const { token } = await signedIn()
    return call(PROJECTS, { method: 'POST', token, body: '{"name":"x"}', headers: { 'Content-Type': 'text/plain' } })
  },
  validation_failed: async () => {
    const { token } = await signedIn()
    return call(PROJECTS, { method: 'POST', token, json: { name: '' } })
  },
  daily_limit_reached: async () => {
    const { project, owner } = await freshProject()
    await DIRECTORY.prepare('INSERT OR REPLACE INTO directory_changes VALUES (?, ?, 1000, 1000, 0, 0)')
      .bind(project, Math.floor(Date.now() / DAY))
      .run()
    const json = { hostname: 'mail.acme.dev', purpose: 'sso' }
    return call('/platform/v1/domains', { method: 'POST', project, token: owner.token, json })
  },
  rate_limited: async () => {
    const json = { email: `${newId('usr', Date.now())}@example.com` }
    return call('/auth/codes', { method: 'POST', json, bindings: { LIMIT_SIGN_IN: LIMIT_REACHED } })
  },
  internal_error: async () => {
    const { project, secret } = await freshKey()
    return call(KEYS, { project, token: secret, bindings: { DB: failingD1(OUR_MISTAKE) } })
  },
  not_configured: () => call('/healthz', { bindings: { CODE_PEPPER: 'short' } }),
  database_unavailable: async () => {
    const { project, secret } = await freshKey()
    return call(KEYS, { project, token: secret, bindings: { DB: failingD1(D1_LOST) } })
  },
  database_full: async () => {
    const { project, secret } = await freshKey()
    return call(KEYS, { project, token: secret, bindings: { DB: failingD1(D1_FULL) } })
  },
}
