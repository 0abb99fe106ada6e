import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { app } from '../../src/app'
import { routeTable } from '../../src/http/openapi'
import { call, countingD1, failingD1, freshProject, mint, stripeConnection } from '../harness'
import { tamperedD1 } from '../inbox/pipeline'

/*
 * A key that this isolate has seen is read again with the request's first own read, in one trip. It is no cache: what
 * the database says of the key decides, every time.
 */
const reads = routeTable(app).filter(
  ({ method, meta }) => method === 'GET' && meta.operation?.policy?.actors.includes('api_key'),
)

let project: string
let token: string
beforeAll(async () => {
  const fresh = await freshProject()
  project = fresh.project
  token = fresh.owner.token
  await stripeConnection(token, project)
})

/** A key that has been used here, in this isolate. */
async function knownKey() {
  const { key, secret } = await mint(token, project)
  expect((await call('/platform/v1/api-keys/self', { token: secret, project })).status).toBe(200)
  return { id: key.id as string, secret }
}

async function revoke(id: string) {
  await call(`/platform/v1/api-keys/${id}`, { method: 'DELETE', token, project })
}

const DEATHS: [code: string, kill: (id: string) => Promise<unknown>][] = [
  ['key_revoked', revoke],
  ['key_rotated', (id) => call(`/platform/v1/api-keys/${id}/rotate`, { method: 'POST', token, project })],
  ['key_expired', (id) => env.DB.prepare('UPDATE api_keys SET expires_at = 1 WHERE id = ?').bind(id).run()],
]

describe.each(reads)('GET $path', ({ path }) => {
  const target = path.startsWith('/platform/v1/projects/') ? () => project : () => 'x_00000000000000000000000000'
  const address = () => path.replace(/(.)\/$/, '$1').replace(/:(\w+)/g, target())

  it.each(DEATHS)('is closed to a known key at once: %s', async (code, kill) => {
    const { id, secret } = await knownKey()
    await kill(id)
    const { status, body, headers } = await call(address(), { token: secret, project })
    expect([status, body.code]).toEqual([401, code])
    expect(Object.keys(body).sort()).toEqual(['code', 'detail', 'request_id', 'status', 'title', 'type'])
    expect(headers.get('WWW-Authenticate')).toContain('Bearer')
  })

  it('takes one trip less with a known key', async () => {
    const { secret } = await mint(token, project)
    const trips: number[] = []
    for (let i = 0; i < 3; i++) {
      const { DB, count } = countingD1()
      await call(address(), { token: secret, project, bindings: { DB } })
      trips.push(count.trips)
    }
    const [first = 0, second, third] = trips // the first one writes last_used_at
    expect([second, third]).toEqual([Math.max(1, first - 2), Math.max(1, first - 2)])
  })
})

it('asks the database about the key before it says what is wrong with a request', async () => {
  const { id, secret } = await knownKey()
  await revoke(id)
  for (const query of ['?limit=0', '?cursor=none', '?no_such_field=1']) {
    const { secret: live } = await knownKey()
    expect((await call(`/platform/v1/api-keys${query}`, { token: live, project })).status).toBeLessThan(423)
    const { status } = await call(`/platform/v1/api-keys${query}`, { token: secret, project })
    expect([query, status]).toEqual([query, 401])
  }
})

it('does nothing for a known key that is dead', async () => {
  const { id, secret } = await knownKey()
  await revoke(id)
  const rename = () =>
    call(`/platform/v1/projects/${project}`, { method: 'PATCH', token: secret, project, json: { name: 'Taken over' } })
  expect((await rename()).body.code).toBe('key_revoked')
  const { body } = await call(`/platform/v1/projects/${project}`, { token, project })
  expect(body.name).toBe('Test')
})

it('keeps a known key out of other projects, named in the header or in the path, and to its own scopes', async () => {
  const { secret } = await mint(token, project, { scopes: ['projects:read'] })
  const other = await freshProject()
  const get = (path: string, named: string) => call(path, { token: secret, project: named })
  for (let i = 0; i < 2; i++) {
    expect((await get(`/platform/v1/projects/${project}`, project)).status).toBe(200)
    expect((await get('/platform/v1/projects', other.project)).body.code).toBe('wrong_project')
    expect((await get(`/platform/v1/projects/${other.project}`, project)).body.code).toBe('not_found')
    expect((await get('/platform/v1/api-keys', project)).body.code).toBe('insufficient_scope')
  }
})

it('goes by the scopes that the database has now, fewer or more than were remembered', async () => {
  const { id, secret } = await knownKey()
  const scope = (scopes: string[]) =>
    env.DB.prepare('UPDATE api_keys SET scopes = ? WHERE id = ?').bind(JSON.stringify(scopes), id).run()
  const list = () => call('/platform/v1/api-keys', { token: secret, project })
  expect((await list()).status).toBe(200)
  await scope(['projects:read'])
  const refused = await list()
  expect([refused.status, refused.body.code, refused.body.data]).toEqual([403, 'insufficient_scope', undefined])
  await scope(['api_keys:read'])
  expect((await list()).status).toBe(200)
})

it('is told of its end where D1 refuses the statement that its key is read with', async () => {
  const { id, secret } = await knownKey()
  await revoke(id)
  const DB = tamperedD1(async ({ sql, run }) => {
    if (sql.includes(';')) throw new Error('D1_ERROR: no such column: SQLITE_ERROR')
    return run()
  })
  const { status, body } = await call('/platform/v1/api-keys', { token: secret, project, bindings: { DB } })
  expect([status, body.code]).toEqual([401, 'key_revoked'])
})

it.each(['D1_ERROR: Network connection lost.', 'D1_ERROR: D1 DB is overloaded.'])(
  'answers a known key with 503 while D1 says %s',
  async (message) => {
    const { secret } = await knownKey()
    const bindings = { DB: failingD1(message) }
    expect((await call('/platform/v1/api-keys', { token: secret, project, bindings })).status).toBe(503)
    expect((await call('/platform/v1/api-keys', { token: secret, project })).status).toBe(200)
  },
)

it('answers HEAD as GET', async () => {
  const { id, secret } = await knownKey()
  const head = () => call('/platform/v1/api-keys', { method: 'HEAD', token: secret, project })
  expect((await head()).status).toBe(200)
  await revoke(id)
  expect((await head()).status).toBe(401)
})
