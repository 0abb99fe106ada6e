import { expect } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import type { Role } from '../../src/lib/access'
import type { FaultName } from '../../src/lib/faults'
import { newId } from '../../src/lib/ids'
import { HOUR } from '../../src/lib/time'
import { newSessionToken } from '../../src/sessions/secret'
import {
  type Answer,
  addMember,
  call,
  D1_FULL,
  D1_LOST,
  DIRECTORY,
  deliver,
  failingD1,
  freshKey,
  freshProject,
  invite,
  invited,
  LIMIT_REACHED,
  lossyQueue,
  mint,
  ORIGIN,
  STORE,
  STRIPE_SECRET,
  signedIn,
  stripeConnection,
  stripeEvent,
  tamperedD1,
  unconfirm,
} from '../harness'
import { gocardlessConnection, newWorld, sendGocardless } from '../inbox/pipeline'
import { newAuthenticator } from '../passkeys/authenticator'
import { byCode, register, requestOptions, signInBy, withPasskey } from '../passkeys/people'
import { crowdedOut, stalled } from './arriving'
import { OF_CATALOG } from './faults-of-catalog'
import { OF_CONSUMERS } from './faults-of-consumers'
import { OF_DOMAINS } from './faults-of-domains'
import { OF_GRANTS } from './faults-of-grants'
import { OF_SSO } from './faults-of-sso'

export const KEYS = '/platform/v1/api-keys'
export const PROJECTS = '/platform/v1/projects'
const CONNECTIONS = '/platform/v1/billing/connections'

/** How D1 refuses a statement with a mistake in it. */
export const OUR_MISTAKE = 'D1_ERROR: no such column: hash_of_the_secret at offset 7: SQLITE_ERROR'

/** A project with a key and a Stripe connection. */
export async function freshConnection() {
  const world = await freshKey()
  return { ...world, connection: await stripeConnection(world.secret, world.project) }
}

/** A key with the secret that it had before it was rotated. */
export async function rotated() {
  const world = await freshKey()
  await call(`${KEYS}/${world.key.id}/rotate`, { method: 'POST', token: world.owner.token, project: world.project })
  return world
}

/** A key that was revoked. */
export async function revoked() {
  const world = await freshKey()
  await call(`${KEYS}/${world.key.id}`, { method: 'DELETE', token: world.owner.token, project: world.project })
  return world
}

async function expired() {
  const world = await freshKey()
  await STORE.prepare('UPDATE api_keys SET expires_at = ? WHERE id = ?')
    .bind(Date.now() - 1, world.key.id)
    .run()
  return world
}

/** Copies a row of the project until it has `n` of them. */
async function fill(table: 'api_keys' | 'connections', project: string, n: number) {
  const { results } = await STORE.prepare(`SELECT * FROM ${table} WHERE project_id = ?`).bind(project).all()
  const [row] = results as Record<string, unknown>[]
  if (!row) throw new Error(`no row of ${table} to copy`)
  const columns = Object.keys(row)
  const insert = STORE.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const copies = Array.from({ length: n - results.length }, (_, i) =>
    insert.bind(
      ...columns.map((name) => ({ id: `${row.id}-${i}`, hash: `${row.hash}-${i}`, secrets: '[]' })[name] ?? row[name]),
    ),
  )
  await STORE.batch(copies)
}

/** Makes the user the owner of `n` more projects, or gives them another role there. */
export async function owning(user: string, n: number, role: Role = 'owner') {
  const insert = DIRECTORY.prepare('INSERT INTO members (project_id, user_id, role, created_at) VALUES (?, ?, ?, 0)')
  await DIRECTORY.batch(Array.from({ length: n }, () => insert.bind(newId('prj', Date.now()), user, role)))
}

/** For each fault, a request that is refused with it. */
export const PRODUCERS: Record<FaultName, () => Promise<Answer>> = {
  invalid_json: async () => {
    const { token } = await signedIn()
    const headers = { 'Content-Type': 'application/json' }
    return call(PROJECTS, { method: 'POST', token, body: '{"name":', headers })
  },
  body_incomplete: async () => {
    const { connection } = await freshConnection()
    const cut = new ReadableStream({ pull: (controller) => controller.error(new Error('Network connection lost.')) })
    return call(`/ingest/${connection.id}`, { method: 'POST', body: cut })
  },
  body_timeout: async () => {
    const { connection } = await freshConnection()
    return stalled(`/ingest/${connection.id}`)
  },
  overloaded: async () => {
    const { connection } = await freshConnection()
    return crowdedOut(`/ingest/${connection.id}`)
  },
  https_required: () => call(`${ORIGIN.replace('https:', 'http:')}${PROJECTS}`),
  invalid_cursor: async () => call(`${PROJECTS}?cursor=nonsense`, { token: (await signedIn()).token }),
  project_required: async () => call(KEYS, { token: (await freshKey()).secret }),
  missing_credentials: async () => call(KEYS, { project: (await freshProject()).project }),
  malformed_credentials: async () => call(KEYS, { project: (await freshProject()).project, token: 'svc_v1_short' }),
  unknown_key: async () => call(KEYS, { project: (await freshProject()).project, token: (await newSecret(0)).secret }),
  key_rotated: async () => {
    const { project, secret } = await rotated()
    return call(KEYS, { project, token: secret })
  },
  key_revoked: async () => {
    const { project, secret } = await revoked()
    return call(KEYS, { project, token: secret })
  },
  key_expired: async () => {
    const { project, secret } = await expired()
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
  invalid_code: () => call('/auth/sessions', { method: 'POST', json: { challenge: 'chl_none', code: 'ABCDEFGH' } }),
  signature_missing: async () => {
    const { connection } = await freshConnection()
    return call(`/ingest/${connection.id}`, { method: 'POST', body: '{}' })
  },
  signature_malformed: async () => {
    const { connection } = await freshConnection()
    return deliver(connection.id, stripeEvent(), { headers: { 'Stripe-Signature': 'nonsense' } })
  },
  signature_mismatch: async () => {
    const { connection } = await freshConnection()
    return deliver(connection.id, stripeEvent(), { secret: 'whsec_of_somebody_else' })
  },
  signature_timestamp: async () => {
    const { connection } = await freshConnection()
    return deliver(connection.id, stripeEvent(), { at: Math.floor(Date.now() / 1000) - 600 })
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
  connection_disabled: async () => {
    const { connection, project, secret } = await freshConnection()
    const path = `${CONNECTIONS}/${connection.id}`
    await call(path, { method: 'PATCH', project, token: secret, json: { status: 'disabled' } })
    return deliver(connection.id, stripeEvent())
  },
  not_found: () => call('/platform/v1/nothing-is-here'),
  unknown_connection: () => deliver(newId('con', Date.now()), stripeEvent()),
  method_not_allowed: () => call(KEYS, { method: 'PUT' }),
  role_escalation: async () => {
    const { project } = await freshProject()
    return invite(project, (await addMember(project, 'admin')).token, { role: 'owner' })
  },
  confirmation_required: async () => {
    const { project, owner } = await freshProject()
    await unconfirm(owner.user)
    return invite(project, owner.token, { role: 'owner' })
  },
  passkey_required: async () => {
    const { token } = await byCode(await withPasskey())
    return call('/auth/passkeys/options', { method: 'POST', token })
  },
  invalid_passkey: async () => signInBy(await (await newAuthenticator()).get(await requestOptions())),
  invalid_recovery_code: async () => {
    const { token } = await signedIn()
    return call('/auth/session/recovery-code', { method: 'POST', token, json: { code: '00000-00000' } })
  },
  registration_refused: async () => (await register((await signedIn()).token, { origin: 'https://evil.test' })).answer,
  passkey_exists: async () => {
    const { authenticator } = await withPasskey()
    return (await register((await signedIn()).token, {}, Promise.resolve(authenticator))).answer
  },
  passkey_limit_reached: async () => {
    const { token } = await withPasskey()
    for (let i = 1; i < 10; i++) await register(token)
    return call('/auth/passkeys/options', { method: 'POST', token })
  },
  last_owner: async () => {
    const { project, owner } = await freshProject()
    return call(`/platform/v1/members/${owner.user}`, { method: 'DELETE', project, token: owner.token })
  },
  already_member: async () => {
    const { project, owner } = await freshProject()
    return invite(project, owner.token, { email: (await addMember(project, 'viewer')).email })
  },
  already_invited: async () => {
    const { project, owner } = await freshProject()
    const { email } = await invited(project)
    return invite(project, owner.token, { email })
  },
  invitation_limit_reached: async () => {
    const { project, owner } = await freshProject()
    for (let n = 0; n < 100; n++) await invited(project)
    return invite(project, owner.token)
  },
  invitation_not_pending: async () => {
    const { project, owner } = await freshProject()
    const { id } = await invited(project, { state: 'accepted' })
    return call(`/platform/v1/invitations/${id}`, { method: 'DELETE', project, token: owner.token })
  },
  invitation_expired: async () => {
    const { token, email } = await signedIn()
    const { id } = await invited((await freshProject()).project, { email, expires_at: 1 })
    return call(`/auth/invitations/${id}/accept`, { method: 'POST', token })
  },
  key_limit_reached: async () => {
    const { project, owner } = await freshKey()
    await fill('api_keys', project, 99)
    await mint(owner.token, project) // the hundredth
    return call(KEYS, { method: 'POST', project, token: owner.token, json: { name: 'one too many' } })
  },
  rotation_conflict: async () => {
    const { project, owner, key } = await freshKey()
    const path = `${KEYS}/${key.id}/rotate`
    // Between this rotation's read and its write, another one goes all the way.
    const DB = tamperedD1(async ({ statements, run }) => {
      if (statements === 1) return run()
      const other = await call(path, { method: 'POST', project, token: owner.token })
      if (other.status !== 200) throw new Error(`the other rotation answered ${other.status}`)
      return run()
    })
    return call(path, { method: 'POST', project, token: owner.token, bindings: { DB } })
  },
  rotation_of_revoked_key: async () => {
    const { project, owner, key } = await revoked()
    return call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: owner.token })
  },
  rotation_of_expired_key: async () => {
    const { project, owner, key } = await expired()
    return call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: owner.token })
  },
  key_expires_first: async () => {
    const { project, owner } = await freshProject()
    const { key } = await mint(owner.token, project, { scopes: ['billing:read'] })
    const { secret } = await mint(owner.token, project, { expires_at: new Date(Date.now() + HOUR).toISOString() })
    return call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: secret })
  },
  project_limit_reached: async () => {
    const { token, user } = await signedIn()
    await owning(user, 99)
    expect((await call(PROJECTS, { method: 'POST', token, json: { name: 'the hundredth' } })).status).toBe(201)
    return call(PROJECTS, { method: 'POST', token, json: { name: 'one too many' } })
  },
  project_purged: async () => {
    const { project, owner } = await freshProject()
    await call(`${PROJECTS}/${project}?name=Test`, { method: 'DELETE', token: owner.token })
    await STORE.prepare('UPDATE projects SET purge_at = 1 WHERE id = ?').bind(project).run()
    return call(`${PROJECTS}/${project}/restore`, { method: 'POST', token: owner.token })
  },
  connection_limit_reached: async () => {
    const { project, secret } = await freshConnection()
    await fill('connections', project, 49)
    await stripeConnection(secret, project) // the fiftieth
    const json = { vendor: 'stripe', name: 'one too many', livemode: true, signing_secret: 'whsec_0123456789' }
    return call(CONNECTIONS, { method: 'POST', project, token: secret, json })
  },
  ...OF_CONSUMERS,
  ...OF_SSO,
  ...OF_CATALOG,
  ...OF_DOMAINS,
  ...OF_GRANTS,
  ...OF_SSO,
  secret_limit_reached: async () => {
    const { project, secret, connection } = await freshConnection()
    const add = (n: number) =>
      call(`${CONNECTIONS}/${connection.id}/secrets`, {
        method: 'POST',
        project,
        token: secret,
        json: { signing_secret: `whsec_number_${n}` },
      })
    for (const n of [2, 3, 4, 5]) expect((await add(n)).status).toBe(201)
    return add(6)
  },
  secret_exists: async () => {
    const { project, secret, connection } = await freshConnection()
    const json = { signing_secret: STRIPE_SECRET }
    return call(`${CONNECTIONS}/${connection.id}/secrets`, { method: 'POST', project, token: secret, json })
  },
  payload_gone: async () => {
    const { project, secret, connection } = await freshConnection()
    const receipt = await deliver(connection.id, stripeEvent(), { bindings: { EVENTS: lossyQueue().EVENTS } })
    const id = receipt.body.event_ids[0]
    await STORE.prepare("UPDATE events SET status = 'processed', due_at = NULL WHERE id = ?").bind(id).run()
    await STORE.prepare('DELETE FROM bodies WHERE project_id = ?').bind(project).run()
    return call(`/platform/v1/billing/webhooks/${id}/replay`, { method: 'POST', project, token: secret })
  },
  payload_too_large: async () => {
    const { token } = await signedIn()
    return call(PROJECTS, { method: 'POST', token, json: { name: 'x'.repeat(65_536) } })
  },
  too_many_events: async () => {
    const world = await newWorld()
    const ids = Array.from({ length: 1001 }, (_, n) => `EV${n}`)
    return sendGocardless(world, await gocardlessConnection(world), ids)
  },
  unsupported_media_type: async () => {
    const { token } = await signedIn()
    return call(PROJECTS, { method: 'POST', token, body: '{"name":"x"}', headers: { 'Content-Type': 'text/plain' } })
  },
  unsupported_encoding: async () => {
    const { connection } = await freshConnection()
    return deliver(connection.id, stripeEvent(), { headers: { 'Content-Encoding': 'gzip' } })
  },
  validation_failed: async () => {
    const { token } = await signedIn()
    return call(PROJECTS, { method: 'POST', token, json: { name: '' } })
  },
  rate_limited: async () => {
    const json = { email: `${newId('usr', Date.now())}@example.com` }
    return call('/auth/codes', { method: 'POST', json, bindings: { LIMIT_SIGN_IN: LIMIT_REACHED } })
  },
  internal_error: async () => {
    const { project, secret } = await freshKey()
    return call(KEYS, { project, token: secret, bindings: { DB: failingD1(OUR_MISTAKE) } })
  },
  public_origin_missing: () => call('/healthz', { bindings: { PUBLIC_ORIGIN: '' } }),
  database_unavailable: async () => {
    const { project, secret } = await freshKey()
    return call(KEYS, { project, token: secret, bindings: { DB: failingD1(D1_LOST) } })
  },
  not_configured: () => call('/healthz', { bindings: { CODE_PEPPER: 'short' } }),
  not_migrated: () => call('/healthz', { bindings: { DB: failingD1('D1_ERROR: no such table: users: SQLITE_ERROR') } }),
  database_full: async () => {
    const { project, secret } = await freshKey()
    return call(KEYS, { project, token: secret, bindings: { DB: failingD1(D1_FULL) } })
  },
  encryption_key_unavailable: async () => {
    const { connection } = await freshConnection()
    const bindings = { ENCRYPTION_KEY_1: btoa('x'.repeat(32)) }
    return deliver(connection.id, stripeEvent(), { bindings })
  },
}
