import { beforeAll, describe, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { app } from '../../src/app'
import { routeTable } from '../../src/http/openapi'
import { ROLES, SCOPES } from '../../src/lib/access'
import { HOUR } from '../../src/lib/time'
import { newSessionToken } from '../../src/sessions/secret'
import {
  type Answer,
  addMember,
  call,
  DIRECTORY,
  freshProject,
  inTurn,
  mint,
  type RequestOptions,
  STORE,
  signedIn,
} from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { ROWS } from '../routes/table'

/** Pages for people, the description of the API, and the way in for agents (test/mcp): they have no policy. */
const PAGES = [
  'GET /openapi.json',
  'GET /openapi-3.0.json',
  'GET /catalog.schema.json',
  'GET /errors',
  'GET /',
  'POST /mcp',
]

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
      .filter(({ meta }) => meta.page === undefined) // test/console/roles.test.ts asks those
      .map(({ method, path }) => `${method} ${path.replace(/(.)\/$/, '$1')}`)
      .filter((route) => !PAGES.includes(route))
    expect(routes.sort()).toEqual(Object.keys(ROWS).sort())
  })

  it('needs a confirmed session where this is stated', () => {
    const stated = Object.entries(ROWS).filter(([, { who }]) => who !== 'public' && who.confirmed)
    const confirmed = ROUTES.filter(({ meta }) => meta.operation?.policy?.confirmed)
    expect(confirmed.map(nameOf).sort()).toEqual(stated.map(([name]) => name).sort())
  })

  for (const [nth, { method, path, meta }] of table.entries()) {
    const name = `${method} ${path.replace(/(.)\/$/, '$1')}`
    const stated = ROWS[name]?.who
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

    it(`${name} refuses lifeless credentials`, async () => {
      for (const [what, [token, status, code]] of inTurn(Object.entries(lifeless), nth, 3)) {
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

  it('lets a key without any scope of keys read, change and rotate itself and end its other secrets, and no other key', async () => {
    const { owner, project } = await freshProject()
    const large = await mint(owner.token, project)
    const routes = ROUTES.filter(({ path }) => path.startsWith('/platform/v1/api-keys/:id'))
    const answers = await Promise.all(
      routes.map(async (route) => {
        const { key, secret } = await mint(owner.token, project, { scopes: ['billing:read'] })
        const json = ROWS[nameOf(route)]?.json
        const ask = async (id: string) => {
          const path = route.path.replace(':id', id)
          const { status, body } = await call(path, { method: route.method, token: secret, project, json })
          return status < 300 || body.code
        }
        return [nameOf(route).replace('/platform/v1/api-keys', ''), await ask(large.key.id), await ask(key.id)] as const
      }),
    )
    expect(new Set(answers.map(([, other]) => other))).toEqual(new Set(['insufficient_scope']))
    expect(Object.fromEntries(answers.map(([route, , own]) => [route, own]))).toEqual({
      'GET /:id': true,
      'GET /:id/usage': true,
      'PATCH /:id': true,
      'POST /:id/rotate': true,
      'DELETE /:id/pending-secret': true,
      'DELETE /:id/previous-secret': true,
      'DELETE /:id': 'insufficient_scope',
    })
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
