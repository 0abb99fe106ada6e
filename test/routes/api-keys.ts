import { HOUR } from '../../src/lib/time'
import { call, expiredKey, fillTable, freshKey, freshProject, mint, revokedKey, tamperedD1 } from '../harness'
import { asks, may, people, type Rows, read, times } from './row'
import type { World } from './world'

const KEYS = '/platform/v1/api-keys'
const PAGES = '/console/p/:project/platform/settings/api-keys'
const WRITE = may('developer', 'api_keys:write')
const onKey = (what: string) => ({ action: `api_key.${what}`, object: (world: World) => world.other.key.id })

export const API_KEYS: Rows = {
  'POST /platform/v1/api-keys': {
    who: people('developer', 'api_keys:write'),
    json: {
      name: 'sample',
      scopes: ['billing:read'],
      expires_at: null,
      allowed_networks: null,
      rate_limit: { per_minute: 600 },
    },
    status: 201,
    audit: { action: 'api_key.minted', object: () => /^key_/ },
    faults: {
      key_limit_reached: async () => {
        const { project, owner } = await freshKey()
        await fillTable('api_keys', project, 99)
        await mint(owner.token, project) // the hundredth
        return call(KEYS, { method: 'POST', project, token: owner.token, json: { name: 'one too many' } })
      },
      secret_not_replayable: async () => {
        const { project, owner, key } = await freshKey()
        const headers = { 'Idempotency-Key': 'key' }
        const rotate = () => call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: owner.token, headers })
        await rotate()
        return rotate()
      },
    },
    console: { [`GET ${PAGES}/new`]: {}, [`POST ${PAGES}`]: { fields: { name: 'By form', scope: 'billing:read' } } },
  },
  'GET /platform/v1/api-keys': {
    who: read('api_keys:read'),
    list: { add: (world, n) => times(n, () => mint(world.owner.token, world.project)) },
    console: { [`GET ${PAGES}`]: {} },
  },
  'GET /platform/v1/api-keys/self': { who: { key: true, session: false, scope: null } },
  'GET /platform/v1/api-keys/:id': { who: read('api_keys:read'), console: { [`GET ${PAGES}/:id`]: {} } },
  'GET /platform/v1/api-keys/:id/usage': { who: read('api_keys:read') },
  'PATCH /platform/v1/api-keys/:id': {
    who: WRITE,
    json: { name: 'sample', allowed_networks: ['::/0'], rate_limit: { per_minute: 600 } },
    audit: onKey('updated'),
    faults: {
      would_lock_out: async () => {
        const { project, key, secret: token } = await freshKey()
        const json = { allowed_networks: ['192.0.2.0/24'] }
        return call(`${KEYS}/${key.id}`, { method: 'PATCH', project, token, json })
      },
    },
    console: asks(`${PAGES}/:id/edit`, { fields: { name: 'By form', allowed_networks: '', rate_limit: '60' } }),
  },
  'POST /platform/v1/api-keys/:id/rotate': {
    who: WRITE,
    json: { when: 'now', grace_s: 0 },
    audit: onKey('rotated'),
    faults: {
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
      rotation_of_revoked_key: async () => rotate(await revokedKey()),
      rotation_of_expired_key: async () => rotate(await expiredKey()),
      key_reaches_further: async () => {
        const { project, owner } = await freshProject()
        const scopes = ['api_keys:write']
        const { key } = await mint(owner.token, project, { scopes })
        const { secret } = await mint(owner.token, project, { scopes, rate_limit: { per_minute: 60 } })
        return call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: secret })
      },
      key_expires_first: async () => {
        const { project, owner } = await freshProject()
        const { key } = await mint(owner.token, project, { scopes: ['billing:read'] })
        const { secret } = await mint(owner.token, project, { expires_at: new Date(Date.now() + HOUR).toISOString() })
        return call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: secret })
      },
    },
    // The key has an owner's scopes, so a developer may not rotate it.
    console: { [`GET ${PAGES}/:id/rotate`]: { role: 'admin' }, [`POST ${PAGES}/:id/rotate`]: { role: 'admin' } },
  },
  'DELETE /platform/v1/api-keys/:id/pending-secret': {
    who: WRITE,
    audit: { ...onKey('pending_secret_ended'), first: (world) => begin(world, { when: 'first_use' }) },
    console: asks(`${PAGES}/:id/end-pending`),
  },
  'DELETE /platform/v1/api-keys/:id/previous-secret': {
    who: WRITE,
    audit: { ...onKey('previous_secret_ended'), first: (world) => begin(world, { grace_s: 60 }) },
    console: asks(`${PAGES}/:id/end-previous`),
  },
  'DELETE /platform/v1/api-keys/:id': {
    who: WRITE,
    audit: onKey('revoked'),
    console: {
      ...asks(`${PAGES}/:id/revoke`),
      ...asks(`${PAGES}/revoke`, { fields: ({ other }) => ({ id: other.key.id }) }),
    },
  },
}

/** Rotates the other key of a world. */
function begin({ project, owner, other }: World, json: Record<string, unknown>) {
  return call(`${KEYS}/${other.key.id}/rotate`, { method: 'POST', project, token: owner.token, json })
}

function rotate({ project, owner, key }: Awaited<ReturnType<typeof freshKey>>) {
  return call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: owner.token })
}
