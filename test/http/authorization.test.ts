import { beforeAll, describe, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { app } from '../../src/app'
import { routeTable } from '../../src/http/openapi'
import { ROLES, type Role, SCOPES, type Scope } from '../../src/lib/access'
import { HOUR } from '../../src/lib/time'
import { newSessionToken } from '../../src/sessions/secret'
import {
  type Answer,
  addMember,
  call,
  DIRECTORY,
  freshProject,
  mint,
  type RequestOptions,
  STORE,
  signedIn,
} from '../harness'

/** Who may call what, written by hand: the routes' own policies are compared with this. */
type Stated = {
  /** Whether an API key may. */
  key: boolean
  /** Whether a session may, from which role on; null: any signed-in user, whatever the project. */
  session: Role | null | false
  scope: Scope | null
  /** The status for the session of a user who is no member of the project; 403 by default. */
  stranger?: number
}
const READ = (scope: Scope): Stated => ({ key: true, session: 'viewer', scope })
const CONNECT: Stated = { key: true, session: 'admin', scope: 'connections:write' }
const MANAGE: Stated = { key: true, session: 'admin', scope: 'members:write' }
const CONSUMERS: Stated = { key: true, session: 'developer', scope: 'consumers:write' }
const CATALOG: Stated = { key: true, session: 'developer', scope: 'catalog:write' }
const GRANTS: Stated = { key: true, session: 'developer', scope: 'entitlements:write' }
const SIGN_IN: Stated = { key: true, session: 'developer', scope: 'sso:use' }
const DOMAINS: Stated = { key: true, session: 'developer', scope: 'domains:write' }
const SSO: Stated = { key: true, session: 'admin', scope: 'sso:write' }
const OWNER: Stated = { key: false, session: 'owner', scope: null }
const OWN: Stated = { key: false, session: null, scope: null }

const STATED: Record<string, Stated | 'public'> = {
  'POST /platform/v1/api-keys': { key: false, session: 'developer', scope: 'api_keys:write' },
  'GET /platform/v1/api-keys': READ('api_keys:read'),
  'GET /platform/v1/api-keys/self': { key: true, session: false, scope: null },
  'GET /platform/v1/api-keys/:id': READ('api_keys:read'),
  'PATCH /platform/v1/api-keys/:id': { key: true, session: 'developer', scope: 'api_keys:write' },
  'POST /platform/v1/api-keys/:id/rotate': { key: true, session: 'developer', scope: 'api_keys:write' },
  'DELETE /platform/v1/api-keys/:id': { key: true, session: 'developer', scope: 'api_keys:write' },
  'POST /platform/v1/projects': { key: true, session: null, scope: 'projects:write' },
  'GET /platform/v1/projects': { key: true, session: null, scope: 'projects:read' },
  'GET /platform/v1/projects/:id': { key: true, session: 'viewer', scope: 'projects:read', stranger: 404 },
  'PATCH /platform/v1/projects/:id': { key: true, session: 'admin', scope: 'projects:write', stranger: 404 },
  'GET /platform/v1/members': READ('members:read'),
  'GET /platform/v1/members/:user_id': READ('members:read'),
  'PATCH /platform/v1/members/:user_id': MANAGE,
  'DELETE /platform/v1/members/:user_id': MANAGE,
  'PUT /platform/v1/members/:user_id/break-glass': OWNER,
  'DELETE /platform/v1/members/:user_id/break-glass': OWNER,
  'POST /platform/v1/sso/connections': SSO,
  'GET /platform/v1/sso/connections': READ('sso:read'),
  'GET /platform/v1/sso/connections/:id': READ('sso:read'),
  'PATCH /platform/v1/sso/connections/:id': SSO,
  'DELETE /platform/v1/sso/connections/:id': SSO,
  'POST /platform/v1/sso/connections/:id/activate': SSO,
  'POST /platform/v1/sso/connections/:id/disable': SSO,
  'GET /platform/v1/sso/identities': READ('sso:read'),
  'DELETE /platform/v1/sso/identities/:id': SSO,
  'POST /platform/v1/invitations': MANAGE,
  'GET /platform/v1/invitations': READ('members:read'),
  'GET /platform/v1/invitations/:id': READ('members:read'),
  'POST /platform/v1/invitations/:id/resend': MANAGE,
  'DELETE /platform/v1/invitations/:id': MANAGE,
  'GET /platform/v1/audit-log': { key: true, session: 'admin', scope: 'audit_log:read' },
  'POST /platform/v1/domains': DOMAINS,
  'GET /platform/v1/domains': READ('domains:read'),
  'GET /platform/v1/domains/:id': READ('domains:read'),
  'POST /platform/v1/domains/:id/verify': DOMAINS,
  'DELETE /platform/v1/domains/:id': DOMAINS,
  'GET /platform/v1/billing/features': READ('catalog:read'),
  'PUT /platform/v1/billing/features/:key': CATALOG,
  'DELETE /platform/v1/billing/features/:key': CATALOG,
  'POST /platform/v1/billing/plans': CATALOG,
  'GET /platform/v1/billing/plans': READ('catalog:read'),
  'GET /platform/v1/billing/plans/:id': READ('catalog:read'),
  'PATCH /platform/v1/billing/plans/:id': CATALOG,
  'POST /platform/v1/billing/plans/:id/preview': READ('catalog:read'),
  'POST /platform/v1/billing/entitlements/check': READ('entitlements:read'),
  'GET /platform/v1/consumers/:consumer/entitlements': READ('entitlements:read'),
  'POST /platform/v1/consumers/:consumer/entitlements/token': READ('entitlements:read'),
  'POST /platform/v1/billing/entitlement-keys/rotate': { key: false, session: 'admin', scope: 'projects:write' },
  'GET /p/:project/jwks.json': 'public',
  'POST /platform/v1/billing/grants': GRANTS,
  'GET /platform/v1/billing/grants': READ('entitlements:read'),
  'DELETE /platform/v1/billing/grants/:id': GRANTS,
  'POST /platform/v1/sso/authorize': SIGN_IN,
  'POST /platform/v1/sso/connections/:id/test': { key: true, session: 'admin', scope: 'sso:write' },
  'GET /platform/v1/sso/connections/:id/tests/:test': READ('sso:read'),
  'POST /platform/v1/sso/token': SIGN_IN,
  'POST /platform/v1/consumers': CONSUMERS,
  'GET /platform/v1/consumers': READ('consumers:read'),
  'GET /platform/v1/consumers/:consumer': READ('consumers:read'),
  'PUT /platform/v1/consumers/:consumer': CONSUMERS,
  'PATCH /platform/v1/consumers/:consumer': CONSUMERS,
  'POST /platform/v1/consumers/:consumer/block': CONSUMERS,
  'POST /platform/v1/consumers/:consumer/unblock': CONSUMERS,
  'POST /platform/v1/consumers/:consumer/merge': CONSUMERS,
  'DELETE /platform/v1/consumers/:consumer': { key: true, session: 'admin', scope: 'consumers:erase' },
  'GET /platform/v1/consumers/:consumer/erasure': READ('consumers:read'),
  'GET /platform/v1/consumers/:consumer/devices': READ('consumers:read'),
  'PUT /platform/v1/consumers/:consumer/devices/:device': CONSUMERS,
  'DELETE /platform/v1/consumers/:consumer/devices/:device': CONSUMERS,
  'POST /platform/v1/devices/verify': READ('entitlements:read'),
  'POST /platform/v1/billing/connections': CONNECT,
  'GET /platform/v1/billing/connections': READ('connections:read'),
  'GET /platform/v1/billing/connections/:id': READ('connections:read'),
  'PATCH /platform/v1/billing/connections/:id': CONNECT,
  'DELETE /platform/v1/billing/connections/:id': CONNECT,
  'POST /platform/v1/billing/connections/:id/secrets': CONNECT,
  'DELETE /platform/v1/billing/connections/:id/secrets/:secret_id': CONNECT,
  'GET /platform/v1/billing/webhooks': READ('billing:read'),
  'GET /platform/v1/billing/webhooks/search': READ('billing:read'),
  'GET /platform/v1/billing/webhooks/health': READ('billing:read'),
  'GET /platform/v1/billing/webhooks/lag-timeseries': READ('billing:read'),
  'POST /platform/v1/billing/webhooks/replay': { key: true, session: 'developer', scope: 'billing:write' },
  'GET /platform/v1/billing/webhooks/replays': READ('billing:read'),
  'GET /platform/v1/billing/webhooks/replays/:replay_id': READ('billing:read'),
  'GET /platform/v1/billing/webhooks/:event_id': READ('billing:read'),
  'GET /platform/v1/billing/webhooks/:event_id/attempts': READ('billing:read'),
  'POST /platform/v1/billing/webhooks/:event_id/replay': { key: true, session: 'developer', scope: 'billing:write' },
  'GET /platform/v1/billing/subscriptions': READ('billing:read'),
  'GET /platform/v1/billing/subscriptions/:id': READ('billing:read'),
  'GET /platform/v1/billing/subscriptions/:id/timeline': READ('billing:read'),
  'GET /platform/v1/billing/invoices': READ('billing:read'),
  'GET /platform/v1/billing/invoices/:id': READ('billing:read'),
  'GET /platform/v1/billing/invoices/:id/timeline': READ('billing:read'),
  'GET /platform/v1/billing/payment-methods': READ('billing:read'),
  'GET /platform/v1/billing/payment-methods/:id': READ('billing:read'),
  'GET /platform/v1/billing/payment-methods/:id/timeline': READ('billing:read'),
  'GET /platform/v1/billing/customers': READ('billing:read'),
  'GET /platform/v1/billing/customers/:vendor/:id': READ('billing:read'),
  'PUT /platform/v1/billing/customers/:vendor/:id': CONSUMERS,
  'DELETE /platform/v1/billing/customers/:vendor/:id/pin': CONSUMERS,
  'POST /auth/codes': 'public',
  'POST /auth/sessions': 'public',
  'DELETE /platform/v1/projects/:id': OWN,
  'POST /platform/v1/projects/:id/restore': { key: false, session: 'owner', scope: null, stranger: 404 },
  'GET /auth/sessions': OWN,
  'DELETE /auth/sessions': OWN,
  'GET /auth/user': OWN,
  'PATCH /auth/user': OWN,
  'GET /auth/events': OWN,
  'GET /auth/sessions/current': OWN,
  'POST /auth/session/confirm': OWN,
  'DELETE /auth/user': OWN,
  'DELETE /auth/sessions/current': OWN,
  'DELETE /auth/sessions/:id': OWN,
  'GET /auth/passkeys': OWN,
  'POST /auth/passkeys': OWN,
  'POST /auth/passkeys/options': OWN,
  'POST /auth/passkeys/challenge': 'public',
  'PATCH /auth/passkeys/:id': OWN,
  'DELETE /auth/passkeys/:id': OWN,
  'POST /auth/sessions/passkey': 'public',
  'POST /auth/session/passkey/options': OWN,
  'POST /auth/session/passkey': OWN,
  'POST /auth/session/recovery-code': OWN,
  'GET /auth/recovery-codes': OWN,
  'POST /auth/recovery-codes': OWN,
  'GET /auth/invitations': OWN,
  'POST /auth/invitations/:id/accept': OWN,
  'POST /auth/invitations/:id/decline': OWN,
  'POST /ingest/:connection_id': 'public',
  'GET /healthz': 'public',
  'GET /metrics': 'public',
}
/** Pages for people, and the description of the API: they have no policy. */
const PAGES = ['GET /openapi.json', 'GET /errors', 'GET /']

const table = routeTable(app)
const PATHS_WITHOUT_BODY = new Set(['GET', 'DELETE'])

describe('the authorization matrix', () => {
  let project: string
  let other: string
  let live: Record<string, string>
  let lifeless: Record<string, [string, number, string]>

  beforeAll(async () => {
    const mine = await freshProject()
    const theirs = await freshProject()
    project = mine.project
    other = theirs.project
    const token = mine.owner.token
    const rotated = await mint(token, project)
    await call(`/platform/v1/api-keys/${rotated.key.id}/rotate`, { method: 'POST', token, project })
    const revoked = await mint(token, project)
    await call(`/platform/v1/api-keys/${revoked.key.id}`, { method: 'DELETE', token, project })
    const expired = await mint(token, project, { expires_at: new Date(Date.now() + HOUR).toISOString() })
    await STORE.prepare('UPDATE api_keys SET expires_at = 1 WHERE id = ?').bind(expired.key.id).run()
    const endedSession = await signedIn()
    await DIRECTORY.prepare('UPDATE sessions SET expires_at = 1 WHERE user_id = ?').bind(endedSession.user).run()
    lifeless = {
      'no credential': ['', 401, 'missing_credentials'],
      'a malformed one': ['svc_v1_0123', 401, 'malformed_credentials'],
      'one of an unknown kind': ['sk_live_0123456789', 401, 'malformed_credentials'],
      'an unknown key': [(await newSecret(0)).secret, 401, 'unknown_key'],
      'an unknown session': [newSessionToken(), 401, 'unknown_session'],
      'a rotated secret': [rotated.secret, 401, 'key_rotated'],
      'a revoked key': [revoked.secret, 401, 'key_revoked'],
      'an expired key': [expired.secret, 401, 'key_expired'],
      'an expired session': [endedSession.token, 401, 'session_expired'],
      "another project's key": [(await mint(theirs.owner.token, other)).secret, 401, 'wrong_project'],
    }
    live = { 'every scope': (await mint(token, project)).secret }
    for (const scope of SCOPES) {
      live[`only ${scope}`] = (await mint(token, project, { scopes: [scope] })).secret
      live[`all but ${scope}`] = (await mint(token, project, { scopes: SCOPES.filter((one) => one !== scope) })).secret
    }
  })

  it('states a policy for every route, and every stated route exists', () => {
    const routes = table
      .filter(({ meta }) => meta.page === undefined) // test/console/roles.test.ts states those
      .map(({ method, path }) => `${method} ${path.replace(/(.)\/$/, '$1')}`)
      .filter((route) => !PAGES.includes(route))
    expect(routes.sort()).toEqual(Object.keys(STATED).sort())
  })

  for (const { method, path, meta } of table) {
    const name = `${method} ${path.replace(/(.)\/$/, '$1')}`
    const stated = STATED[name]
    if (!stated) continue
    if (stated === 'public') {
      it(`${name} takes no credential`, () => expect(meta.operation?.policy).toBeNull())
      continue
    }

    const request = (token: string, extra: Partial<RequestOptions> = {}) => {
      const target = path.startsWith('/platform/v1/projects/') ? project : 'x_00000000000000000000000000'
      return call(path.replace(/:(\w+)/g, target), {
        method,
        token,
        project,
        ...(PATHS_WITHOUT_BODY.has(method) || !meta.body ? {} : { json: {} }),
        ...extra,
      })
    }
    /** Passes authorization, whatever the answer is then. */
    const passes = ({ status, body }: Answer, who: string) =>
      expect([who, [401, 403, 429, 500, 503].includes(status) ? body?.code : 'passes']).toEqual([who, 'passes'])

    it(`${name} refuses every lifeless credential`, async () => {
      for (const [what, [token, status, code]] of Object.entries(lifeless)) {
        const answer = await request(token)
        expect([what, answer.status, answer.body.code]).toEqual([what, status, code])
      }
    })

    it(`${name} lets ${stated.key ? (stated.scope ?? 'any key') : 'no key'} through`, async () => {
      const { scope } = stated
      if (!stated.key) {
        expect((await request(live['every scope'] as string)).body.code).toBe('console_session_required')
        return
      }
      passes(await request(live['every scope'] as string), 'every scope')
      if (scope) {
        passes(await request(live[`only ${scope}`] as string), 'the scope alone')
        const lacking = await request(live[`all but ${scope}`] as string)
        expect([lacking.status, lacking.body.code]).toEqual([403, 'insufficient_scope'])
        expect(lacking.headers.get('WWW-Authenticate')).toContain(`scope="${scope}"`)
      }
      const unnamed = await request(live['every scope'] as string, { project: null })
      expect([unnamed.status, unnamed.body.code]).toEqual([400, 'project_required'])
    })

    it(`${name} lets ${stated.session === false ? 'no session' : (stated.session ?? 'any session')} through`, async () => {
      for (const role of ROLES) {
        const { token } = await addMember(project, role)
        const answer = await request(token)
        if (stated.session === false) expect(answer.body.code).toBe('api_key_required')
        else if (stated.session === null || ROLES.indexOf(role) >= ROLES.indexOf(stated.session)) passes(answer, role)
        else expect([role, answer.status, answer.body.code]).toEqual([role, 403, 'insufficient_role'])
      }
      const stranger = await request((await signedIn()).token)
      if (stated.session === null) passes(stranger, 'a stranger')
      else if (stated.session !== false) {
        expect([stranger.status, stranger.body.code]).toEqual(
          stated.stranger === 404 ? [404, 'not_found'] : [403, 'not_a_member'],
        )
      }
    })
  }

  it('lets a key without any scope of keys rotate itself, and no other', async () => {
    const { owner, project } = await freshProject()
    const small = await mint(owner.token, project, { scopes: ['billing:read'] })
    const large = await mint(owner.token, project)
    const rotate = (id: string) =>
      call(`/platform/v1/api-keys/${id}/rotate`, { method: 'POST', token: small.secret, project })
    expect((await rotate(large.key.id)).body.code).toBe('insufficient_scope')
    expect((await rotate(small.key.id)).status).toBe(200)
  })

  it('refuses to mint, or to hand out by rotation, more than the caller may do', async () => {
    const { owner, project } = await freshProject()
    const developer = await addMember(project, 'developer')
    const asked = await call('/platform/v1/api-keys', {
      method: 'POST',
      token: developer.token,
      project,
      json: { name: 'more', scopes: ['connections:write'] },
    })
    expect([asked.status, asked.body.code]).toEqual([403, 'insufficient_role'])
    const { key } = await mint(developer.token, project)
    expect(key.scopes).not.toContain('connections:write')
    const admins = await mint(owner.token, project)
    const taken = await call(`/platform/v1/api-keys/${admins.key.id}/rotate`, {
      method: 'POST',
      token: developer.token,
      project,
    })
    expect(taken.status).toBe(403)
    expect((await call('/platform/v1/api-keys/self', { token: admins.secret, project })).status).toBe(200)
  })

  it('treats a key whose minter has left as the project’s: it works, flagged, but creates no projects', async () => {
    const { owner, project } = await freshProject()
    const admin = await addMember(project, 'admin')
    const { key, secret } = await mint(admin.token, project)
    await DIRECTORY.prepare('DELETE FROM members WHERE project_id = ? AND user_id = ?').bind(project, admin.user).run()
    const { body } = await call('/platform/v1/api-keys', { token: secret, project })
    expect(body.data[0]).toMatchObject({ id: key.id, created_by: { user_id: admin.user, is_member: false } })
    const made = await call('/platform/v1/projects', { method: 'POST', token: secret, project, json: { name: 'more' } })
    expect([made.status, made.body.code]).toEqual([403, 'not_a_member'])
    expect((await call('/platform/v1/projects', { token: owner.token })).body.data).toHaveLength(1)
  })
})
