import assert from 'node:assert/strict'
import { type AddressInfo, createServer as listenOn } from 'node:net'
import { after, before, test } from 'node:test'
import express from 'express'
import { Hono } from 'hono'
import { createClient, type KeyNeeds, keyCheck, type PlatformClient } from 'platform-api-client'
import { customerKeys as expressKeys } from 'platform-api-client/express'
import { type CustomerKeyVariables, customerKeys as honoKeys } from 'platform-api-client/hono'
import { json, problem, serve } from './server.ts'

/* The middleware in real apps of Express and Hono: before a running API (URL, and TOKEN of a session), and before one that fails. */

const { URL: url = '', TOKEN: token = '' } = process.env
const NEEDS: Record<string, KeyNeeds> = {
  '/any': {},
  '/reports': { require: ['reports:read', 'reports:write'], features: ['seats'] },
  '/exports': { requireFeatures: ['exports'] },
}
type Options = Parameters<typeof keyCheck>[0]
type Ask = (path: string, key?: string) => Promise<{ status: number; headers: Headers; body: Body }>
type Body = { customer?: string; seats?: unknown; code?: string; detail?: string }

const read = async (response: Response) => {
  const { status, headers } = response
  assert.equal(headers.get('Content-Type')?.split(';')[0], 'application/json')
  return { status, headers, body: (await response.json()) as Body }
}
const bearer = (key?: string): { headers: Record<string, string> } => ({
  headers: key === undefined ? {} : { Authorization: `Bearer ${key}` },
})

const apps: Record<string, (options: Options) => Promise<Ask>> = {
  async express(options) {
    const app = express()
    const keys = expressKeys(options)
    for (const [path, needs] of Object.entries(NEEDS)) {
      app.get(path, keys(needs), (request, response) => {
        const { consumer, features } = request.customerKey ?? assert.fail('no key on the request')
        response.json({ customer: consumer.external_id, seats: features?.seats?.value })
      })
    }
    const server = app.listen(0)
    await new Promise((resolve) => server.once('listening', resolve))
    after(() => server.close())
    const { port } = server.address() as AddressInfo
    return async (path, key) => read(await fetch(`http://127.0.0.1:${port}${path}`, bearer(key)))
  },
  async hono(options) {
    const app = new Hono<{ Variables: CustomerKeyVariables }>()
    const keys = honoKeys(options)
    for (const [path, needs] of Object.entries(NEEDS)) {
      app.get(path, keys(needs), (c) => {
        const { consumer, features } = c.get('customerKey')
        return c.json({ customer: consumer.external_id, seats: features?.seats?.value })
      })
    }
    return async (path, key) => read(await app.request(path, bearer(key)))
  },
}

const says = async (answer: ReturnType<Ask>) => {
  const { status, body } = await answer
  return [status, body.code]
}

let api: PlatformClient
let options: Options
before(async () => {
  const { id: projectId } = await createClient({ baseUrl: url, token }).createProject({ body: { name: 'Keys' } })
  api = createClient({ baseUrl: url, token, projectId })
  await api.putFeature({ key: 'exports', body: { name: 'Exports', type: 'boolean' } })
  await api.putFeature({ key: 'seats', body: { name: 'Seats', type: 'quantity' } })
  const { secret } = await api.mintApiKey({ body: { name: 'verifier', scopes: ['entitlements:read'] } })
  // Long, because the machine that runs the tests may be busy.
  options = { baseUrl: url, token: secret, projectId, timeoutMs: 60_000, onError: (error) => console.error(error) }
})

for (const [name, start] of Object.entries(apps)) {
  test(`${name}: a key is let in with what it may do, and refused as soon as it ended`, async () => {
    const ask = await start(options)
    const consumer = `ext:${name}`
    await api.putConsumer({ consumer, body: {} })
    await api.createGrant({ body: { consumer, feature: 'seats', value: 5 } })
    const scopes = ['reports:read']
    const made = await api.registerDevice({ consumer, device: 'a', body: { platform: 'server', scopes } })
    const { device } = made
    const key = made.token ?? assert.fail('no token')
    assert.deepEqual((await ask('/any', key)).body, { customer: name })

    const missing = await ask('/reports', key)
    assert.deepEqual([missing.status, missing.body.code], [403, 'missing_scope'])
    const challenge = 'Bearer error="insufficient_scope", scope="reports:write"'
    assert.equal(missing.headers.get('WWW-Authenticate'), challenge)
    await api.updateDevice({ consumer, device: device.id, body: { scopes: [...scopes, 'reports:write'] } })
    assert.deepEqual((await ask('/reports', key)).body, { customer: name, seats: 5 })

    assert.deepEqual(await says(ask('/exports', key)), [403, 'feature_not_allowed'])
    await api.createGrant({ body: { consumer, feature: 'exports' } })
    assert.equal((await ask('/exports', key)).status, 200)

    const next = await api.rotateDevice({ consumer, device: device.id, body: { when: 'first_use' } })
    assert.equal((await ask('/any', key)).status, 200)
    assert.equal((await ask('/any', next.token)).status, 200)
    assert.deepEqual(await says(ask('/any', key)), [401, 'key_unknown'])

    await api.blockConsumer({ consumer, body: {} })
    assert.deepEqual(await says(ask('/any', next.token)), [403, 'customer_blocked'])
    await api.unblockConsumer({ consumer, body: {} })
    const until = new Date(Date.now() + 1_000).toISOString()
    await api.updateDevice({ consumer, device: device.id, body: { expires_at: until } })
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    assert.deepEqual(await says(ask('/any', next.token)), [401, 'key_expired'])
    await api.revokeDevice({ consumer, device: device.id })
    assert.deepEqual(await says(ask('/any', next.token)), [401, 'key_revoked'])
  })

  test(`${name}: without a key, or with one that is not well formed, the API is not asked`, async () => {
    const server = await serve(problem(500, 'internal_error'))
    after(server.close)
    const ask = await start({ ...options, baseUrl: server.url })
    const missing = await ask('/any')
    assert.deepEqual([missing.status, missing.body.code], [401, 'key_missing'])
    assert.equal(missing.headers.get('WWW-Authenticate'), 'Bearer')
    assert.equal(missing.headers.get('Cache-Control'), 'no-store')
    for (const key of ['', 'a b', 'x'.repeat(1_001), 'a,Bearer b']) {
      assert.deepEqual(await says(ask('/any', key)), [401, 'key_missing'])
    }
    assert.equal(server.requests.length, 0)
  })

  test(`${name}: what the API cannot answer is refused, and told`, async () => {
    for (const [answer, status, code] of [
      [problem(429, 'rate_limited', { 'Retry-After': '90' }), 429, 'rate_limited'],
      [problem(503, 'database_unavailable', { 'Retry-After': '90' }), 503, 'verification_unavailable'],
      [problem(401, 'key_revoked'), 503, 'verification_unavailable'],
      [problem(403, 'insufficient_scope'), 503, 'verification_unavailable'],
      [json(200, null), 503, 'verification_unavailable'],
      [json(200, 'not json'), 401, 'key_unknown'],
      [json(200, { valid: 'yes', reason: null }), 401, 'key_unknown'],
      [json(200, { valid: true, device: null, consumer: null }), 401, 'key_unknown'],
    ] as const) {
      const server = await serve(answer)
      after(server.close)
      const told: unknown[] = []
      const ask = await start({
        ...options,
        baseUrl: server.url,
        timeoutMs: 5_000,
        onError: (error) => told.push(error),
      })
      const refusal = await ask('/any', 'key')
      assert.deepEqual([refusal.status, refusal.body.code], [status, code])
      assert.equal(told.length, status === 401 ? 0 : 1)
      if (status === 429) assert.equal(refusal.headers.get('Retry-After'), '90')
    }
  })

  test(`${name}: an API that does not answer, or is not there, is a 503 in time, even if the log fails`, async () => {
    const silent = listenOn()
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    after(() => silent.close())
    for (const port of [(silent.address() as AddressInfo).port, 1]) {
      const onError = () => {
        throw new Error('the log is full')
      }
      const ask = await start({ ...options, baseUrl: `http://127.0.0.1:${port}`, timeoutMs: 300, onError })
      const startedAt = Date.now()
      assert.deepEqual(await says(ask('/any', 'key')), [503, 'verification_unavailable'])
      assert(Date.now() - startedAt < 10_000)
    }
  })
}

test('a check of a key asks each time, and tells the needs as they were given', async () => {
  const device = { id: 'dev_1' }
  const consumer = { external_id: 'ada' }
  const features = { a: { allowed: true }, b: { allowed: true } }
  const server = await serve(json(200, { valid: true, reason: null, missing_scopes: [], device, consumer, features }))
  after(server.close)
  const check = keyCheck({ ...options, baseUrl: server.url })
  const needs = { require: ['r'], features: ['a'], requireFeatures: ['b', 'a'] }
  for (let n = 0; n < 2; n++) assert.equal((await check('bearer  key', needs)).key?.consumer.external_id, 'ada')
  assert.deepEqual(
    server.requests.map(({ method, path, text }) => [method, path, JSON.parse(text)]),
    Array(2).fill(['POST', '/platform/v1/devices/verify', { token: 'key', require: ['r'], features: ['a', 'b'] }]),
  )
})
