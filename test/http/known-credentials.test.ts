import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_LIVE_KEYS } from '../../src/api-keys/limits'
import { app } from '../../src/app'
import { routeTable } from '../../src/http/openapi'
import { MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import {
  bound,
  call,
  countingD1,
  D1_LOST,
  failingD1,
  freshProject,
  head,
  inStore,
  inTurn,
  mint,
  type RequestOptions,
  STORE,
  STORES,
  stripeConnection,
  tampered,
  tamperedD1,
} from '../harness'
import { nameOf, ROUTES, takesBody } from '../routes/of-app'
import { ROWS } from '../routes/table'
import { callRoute, expectSampled } from '../routes/walk'
import { newWorld } from '../routes/world'

/*
 * Where this isolate has authenticated a key before, a route that only reads sends the key's own read and its statements
 * as one batch (`read` in src/http/auth.ts). What is known of the key is a hint, never an answer: the row that the
 * batch reads decides each time.
 */
const takesKeys = ({ meta }: (typeof ROUTES)[number]) => meta.operation?.policy?.actors.includes('api_key') ?? false
/** The calls that only read although they are POSTs: what they are asked is a secret, or too much for a query. */
const ASKING = [
  'POST /platform/v1/devices/verify',
  'POST /platform/v1/consumers/:consumer/entitlements/token',
  'POST /platform/v1/billing/catalog/preview',
  'POST /platform/v1/billing/plans/:id/preview',
  'POST /platform/v1/billing/entitlements/check',
]
/** The calls whose statements depend on what was read before them. */
const IN_TURN = [
  'GET /platform/v1/notices',
  'GET /platform/v1/billing/connections/:id/endpoint',
  'GET /platform/v1/billing/webhooks/search',
]
const onlyReads = (route: (typeof ROUTES)[number]) => route.method === 'GET' || ASKING.includes(nameOf(route))
const reads = routeTable(app).filter((route) => onlyReads(route) && takesKeys(route))
const deferring = reads.filter(({ meta }) => meta.operation?.policy?.reads)
const changes = ROUTES.filter((route) => !onlyReads(route) && takesKeys(route))
/** Whether a route's statements are in the same database as the key: people are in the directory. */
const isBesideKey = (path: string) =>
  STORES.length === 1 || !/^\/platform\/v1\/(members|invitations|domains|sso)/.test(path)

let project: string
let token: string
async function newProject() {
  const fresh = await freshProject()
  project = fresh.project
  token = fresh.owner.token
  await stripeConnection(token, project)
}
/** How many live keys the tests of a route leave behind, at most. */
const KEYS_OF_A_ROUTE = 8
let routes = 0
// One for some routes and not one for all, so that a project's limit of live keys bounds none. What a test changes is its
// own keys.
async function someProject() {
  if (routes++ % Math.floor(MAX_LIVE_KEYS / KEYS_OF_A_ROUTE) === 0) await newProject()
}
beforeAll(newProject)

/** A key that this isolate has authenticated. */
async function knownKey() {
  const { key, secret } = await mint(token, project)
  expect((await call('/platform/v1/api-keys/self', { token: secret, project })).status).toBe(200)
  return { id: key.id, secret }
}

async function revoke(id: string) {
  await call(`/platform/v1/api-keys/${id}`, { method: 'DELETE', token, project })
}

const DEATHS: [code: string, kill: (id: string) => Promise<unknown>][] = [
  ['key_revoked', revoke],
  ['key_rotated', (id) => call(`/platform/v1/api-keys/${id}/rotate`, { method: 'POST', token, project })],
  ['key_expired', (id) => STORE.prepare('UPDATE api_keys SET expires_at = 1 WHERE id = ?').bind(id).run()],
]

/** A path with this project's id where it is a project's, and an id that is not there anywhere else. */
function addressOf(path: string): string {
  const id = path.startsWith('/platform/v1/projects/') ? project : 'x_00000000000000000000000000'
  return path.replace(/(.)\/$/, '$1').replace(/:(\w+)/g, id)
}

/** A request to a route that only reads, in this project. */
function ask(route: (typeof ROUTES)[number], options: RequestOptions) {
  const { method, path } = route
  const query = ROWS[nameOf(route)]?.query
  return call(addressOf(path) + (query ? `?${query}` : ''), {
    method,
    ...(takesBody(route) && { json: ROWS[nameOf(route)]?.json }),
    ...options,
  })
}

/** The ways to die that a route is tried with. */
const deathsOf = (route: (typeof ROUTES)[number]) => inTurn(DEATHS, reads.indexOf(route))

describe.each(reads)('$method $path', (route) => {
  const { path, meta } = route
  beforeAll(someProject)

  it.each(deathsOf(route))('is closed to a known key at once: %s', async (code, kill) => {
    const { id, secret } = await knownKey()
    await kill(id)
    const { status, body, headers } = await ask(route, { token: secret, project })
    expect([status, body.code]).toEqual([401, code])
    expect(Object.keys(body).sort()).toEqual(['code', 'detail', 'request_id', 'status', 'title', 'type'])
    expect(headers.get('WWW-Authenticate')).toContain('Bearer')
  })

  it.runIf(isBesideKey(path))('takes one trip less with a known key', async () => {
    const { secret } = await mint(token, project)
    const trips: number[] = []
    for (let i = 0; i < 3; i++) {
      const { DB, count } = countingD1()
      await ask(route, { token: secret, project, bindings: { DB } })
      trips.push(count.trips)
    }
    const [first = 0, second, third] = trips // the first one writes last_used_at
    // A route whose statements depend on each other reads the key first, known or not.
    const saved = meta.operation?.policy?.reads ? 2 : 1
    expect([second, third]).toEqual([first - saved, first - saved])
    expect(second).toBeGreaterThan(0)
  })

  it('answers 503 while D1 is out, after one attempt and its repetition', async () => {
    const { secret } = await knownKey()
    const { secret: unknown } = await mint(token, project)
    for (const tried of [secret, unknown]) {
      let trips = 0
      const database = tampered(STORE, async () => {
        trips += 1
        throw new Error(D1_LOST)
      })
      const { status, body } = await ask(route, { token: tried, project, bindings: inStore(database) })
      expect([status, body.code, trips]).toEqual([503, 'database_unavailable', 2])
    }
  })
})

describe.each(deferring)('$method $path, which reads with the key', (route) => {
  const { path } = route
  beforeAll(someProject)

  /** The key's last use is long ago, in the database and for the isolate, and no KV marker keeps it from being written. */
  async function staleKey() {
    stopClock()
    const key = await knownKey()
    advance(2 * MINUTE)
    await bound.KV.delete(`last_used:${key.id}`)
    return key
  }

  /** What a request asks of its store and of KV, in order: each call as it is sent, and as it is answered. */
  function recorder() {
    const asked: string[] = []
    const database = tampered(STORE, async ({ sql, run }) => {
      const what = /update "api_keys"/i.test(sql) ? 'last_used_at' : 'reads'
      asked.push(`${what} sent`)
      const results = await run()
      asked.push(`${what} answered`)
      return results
    })
    const KV = {
      get: (name: string) => {
        asked.push('marker')
        return bound.KV.get(name)
      },
      put: bound.KV.put.bind(bound.KV),
    } as unknown as KVNamespace
    return { asked, bindings: { ...inStore(database), KV } }
  }

  it("has no effect before the key's row is read", async () => {
    const { secret } = await staleKey()
    const { asked, bindings } = recorder()
    await ask(route, { token: secret, project, bindings })
    const first = asked.indexOf('reads answered')
    expect(first).toBeGreaterThan(0)
    expect(asked.slice(0, first)).toEqual(['reads sent'])
    expect(asked.slice(first)).toEqual(expect.arrayContaining(['marker', 'last_used_at sent', 'last_used_at answered']))
  })

  it.each(deathsOf(route))('has no effect for a dead key: %s', async (code, kill) => {
    const { id, secret } = await staleKey()
    await kill(id)
    const { asked, bindings } = recorder()
    expect((await ask(route, { token: secret, project, bindings })).body.code).toBe(code)
    expect(new Set(asked)).toEqual(new Set(['reads sent', 'reads answered']))
  })

  it.runIf(isBesideKey(path)).each(deathsOf(route))(
    "tells a dead key so where D1 refuses one of the route's statements: %s",
    async (code, kill) => {
      const { id, secret } = await knownKey()
      const DB = tamperedD1(async ({ statements, run }) => {
        if (statements > 1) throw new Error('D1_ERROR: no such column: SQLITE_ERROR')
        return run()
      })
      const get = () => ask(route, { token: secret, project, bindings: { DB } })
      expect((await get()).status).toBe(500)
      await kill(id)
      const { status, body } = await get()
      expect([status, body.code]).toEqual([401, code])
    },
  )
})

it('is for routes that only read', () => {
  expect(deferring.length).toBeGreaterThan(3)
  expect(changes.length).toBeGreaterThan(5)
  const others = ROUTES.filter(({ method }) => method !== 'GET')
  expect(others.filter(({ meta }) => meta.operation?.policy?.reads).map(nameOf)).toEqual(ASKING)
  // All others read with the key, which saves each caller a trip.
  expect(reads.filter((route) => !deferring.includes(route)).map(nameOf)).toEqual(IN_TURN)
})

it.each(changes.map((route) => [nameOf(route), route] as const))(
  'asks about a known key alone, and first, where something may change: %s',
  async (_, route) => {
    const world = await newWorld()
    const self = { token: world.secret, project: world.project }
    expect((await call('/platform/v1/api-keys/self', self)).status).toBe(200)
    const trips: { sql: string; statements: number }[] = []
    const DB = tamperedD1(({ sql, statements, run }) => {
      trips.push({ sql, statements })
      return run()
    })
    const answer = await callRoute(world, route, { token: world.secret, bindings: { DB } })
    expectSampled(route, answer)
    expect(trips[0]).toEqual({ sql: expect.stringMatching(/^select .* from "api_keys"/i), statements: 1 })
  },
)

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
    STORE.prepare('UPDATE api_keys SET scopes = ? WHERE id = ?').bind(JSON.stringify(scopes), id).run()
  const list = () => call('/platform/v1/api-keys', { token: secret, project })
  expect((await list()).status).toBe(200)
  await scope(['projects:read'])
  const refused = await list()
  expect([refused.status, refused.body.code, refused.body.data]).toEqual([403, 'insufficient_scope', undefined])
  await scope(['api_keys:read'])
  expect((await list()).status).toBe(200)
})

it.each([D1_LOST, 'D1_ERROR: D1 DB is overloaded.'])(
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
  const ask = () => head('/platform/v1/api-keys', { token: secret, project })
  expect((await ask()).status).toBe(200)
  await revoke(id)
  expect((await ask()).status).toBe(401)
})
