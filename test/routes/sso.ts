import { call, DIRECTORY, freshProject, tamperedD1 } from '../harness'
import { customersWorld } from '../sso/customers'
import { insertConnection, insertDomain } from '../sso/rows'
import { CONNECTIONS, enforced, team } from '../sso/team/team'
import { asks, byOwner, may, type Rows, read, times } from './row'
import type { World } from './world'

const PAGES = '/console/p/:project/platform/settings/sso'
const IDENTITIES = '/console/p/:project/platform/consumers/:consumer/identities'
const WRITE = may('admin', 'sso:write')
const SIGN_IN = may('developer', 'sso:use')
const onConnection = (what: string) => ({ action: `sso_connection.${what}`, object: ({ sso }: World) => sso.id })
const DRAFT = { audience: 'team', name: 'sample', issuer: 'https://sample.plain.dev', client_id: 'rp' }
const enforce = (id: string, project: string, token: string) =>
  call(`${CONNECTIONS}/${id}`, { method: 'PATCH', project, token, json: { enforce: true } })
const activate = (id: string, project: string, token: string) =>
  call(`${CONNECTIONS}/${id}/activate`, { method: 'POST', project, token })

export const SSO: Rows = {
  'POST /platform/v1/sso/connections': {
    who: WRITE,
    json: {
      ...DRAFT,
      client_secret: 's3cret',
      auth_method: 'client_secret_post',
      scopes: ['openid'],
      claims: { email: 'email', name: 'name' },
      domain_ids: [],
      default_role: 'viewer',
    },
    status: 201,
    audit: { action: 'sso_connection.created', object: () => /^sso_/ },
    faults: {
      domain_taken: async () => {
        const { project, send } = await byOwner()
        const json = { ...DRAFT, domain_ids: [await insertDomain(project, 'taken.dev')] }
        const create = () => send('POST', CONNECTIONS, json)
        await create()
        return create()
      },
    },
    console: {
      [`GET ${PAGES}/new`]: {},
      [`POST ${PAGES}`]: { fields: { ...DRAFT, name: 'By form', client_secret: 's3cret' } },
    },
  },
  'GET /platform/v1/sso/connections': {
    who: read('sso:read'),
    list: { add: ({ project }, n) => times(n, () => insertConnection(project)) },
    console: { [`GET ${PAGES}`]: {} },
  },
  'GET /platform/v1/sso/connections/:id': { who: read('sso:read'), console: { [`GET ${PAGES}/:id`]: {} } },
  'PATCH /platform/v1/sso/connections/:id': {
    who: WRITE,
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
    audit: onConnection('updated'),
    faults: {
      connection_inactive: async () => {
        const { project, owner } = await freshProject()
        return enforce((await insertConnection(project)).id, project, owner.token)
      },
      connection_changed: async () => {
        const { project, owner } = await freshProject()
        const path = `${CONNECTIONS}/${(await insertConnection(project)).id}`
        const change = (scope: string, bindings = {}) =>
          call(path, { method: 'PATCH', project, token: owner.token, json: { scopes: ['openid', scope] }, bindings })
        let others = 0
        const DB = tamperedD1(async ({ sql, run }) => {
          if (sql.includes('update "sso_connections"')) await change(`other${others++}`)
          return run()
        })
        return change('this', { DB })
      },
      sso_session_required: async () => {
        const { project, owner, connection } = await team()
        return enforce(connection, project, owner.token)
      },
    },
    console: {
      [`POST ${PAGES}/:id`]: { fields: { audience: 'customers', name: 'By form', client_id: 'rp' } },
      [`GET ${PAGES}/:id/enforce`]: { role: 'owner' },
      [`POST ${PAGES}/:id/enforce`]: {
        role: 'owner',
        // It is enforced, and the owner has the way past it.
        first: ({ project, owner, sso }) =>
          DIRECTORY.batch([
            DIRECTORY.prepare("UPDATE sso_connections SET audience = 'team' WHERE id = ?").bind(sso.id),
            DIRECTORY.prepare('UPDATE members SET break_glass = 1 WHERE user_id = ?').bind(owner.user),
            DIRECTORY.prepare('UPDATE projects SET sso_enforced_by = ? WHERE id = ?').bind(sso.id, project),
          ]),
        fields: { enforce: 'false' },
      },
    },
  },
  'DELETE /platform/v1/sso/connections/:id': {
    who: WRITE,
    audit: onConnection('deleted'),
    faults: {
      connection_enforced: async () => {
        const { project, owner, connection } = await enforced()
        return call(`${CONNECTIONS}/${connection}`, { method: 'DELETE', project, token: owner.token })
      },
    },
    console: asks(`${PAGES}/:id/delete`),
  },
  'POST /platform/v1/sso/connections/:id/activate': {
    who: WRITE,
    audit: onConnection('activated'),
    faults: {
      domain_unverified: async () => {
        const { project, owner } = await freshProject()
        return activate((await insertConnection(project, { tested_revision: 1 })).id, project, owner.token)
      },
      connection_untested: async () => {
        const { project, owner } = await freshProject()
        return activate((await insertConnection(project)).id, project, owner.token)
      },
    },
    console: { [`POST ${PAGES}/:id/activate`]: {} },
  },
  'POST /platform/v1/sso/connections/:id/disable': {
    who: WRITE,
    audit: onConnection('disabled'),
    console: asks(`${PAGES}/:id/disable`),
  },
  'POST /platform/v1/sso/connections/:id/test': {
    who: WRITE,
    audit: onConnection('test_started'),
    console: { [`POST ${PAGES}/:connection/test`]: {} },
  },
  'GET /platform/v1/sso/connections/:id/tests/:test': {
    who: read('sso:read'),
    console: {
      [`GET ${PAGES}/:connection/tests`]: { policy: 'user' },
      [`GET ${PAGES}/:connection/tests/:test`]: {},
      [`GET ${PAGES}/:connection/tests/:test/run`]: {},
    },
  },
  'GET /platform/v1/sso/identities': {
    who: read('sso:read'),
    list: {
      add: ({ project }, n) => times(n, () => insertConnection(project)),
      filters: ['user_id=usr_sample', 'consumer=csm_other', ''],
    },
    console: { [`GET ${IDENTITIES}`]: { policy: 'user' }, [`GET ${IDENTITIES}/:identity`]: { policy: 'user' } },
  },
  'DELETE /platform/v1/sso/identities/:id': {
    who: WRITE,
    audit: { action: 'sso_identity.deleted', object: ({ sso }) => sso.identity },
    console: asks(`${IDENTITIES}/:identity/remove`, { object: ({ identity }) => identity }),
  },
  // Well-formed, but the project has no connection and no code.
  'POST /platform/v1/sso/authorize': {
    who: SIGN_IN,
    json: {
      connection_id: 'sso_01kc5rb2c4d6e8f0g1h3j5k7m9',
      redirect_uri: 'https://app.example.com/sso',
      state: 'sample',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      login_hint: 'sample@example.com',
    },
    status: 404,
    audit: null,
  },
  'POST /platform/v1/sso/token': {
    who: SIGN_IN,
    json: { code: '0'.repeat(64), redirect_uri: 'https://app.example.com/sso', code_verifier: 'v'.repeat(43) },
    status: 400,
    audit: null,
    faults: { invalid_grant: async () => (await customersWorld()).token('0'.repeat(64)) },
  },
}
