import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import express from 'express'
import { Hono } from 'hono'
import { type KeyNeeds, keyCheck, PlatformError } from 'platform-api-client'
import { customerKeys as expressKeys } from 'platform-api-client/express'
import { customerKeys as honoKeys } from 'platform-api-client/hono'
import { inTurn, json, problem, serve } from './server.ts'

/* What the check of a customer's key makes of each answer of the API, to the letter, before a server that answers as it is told. */

const DEVICE = { id: 'dev_1' }
const CONSUMER = { id: 'csm_1', external_id: 'ada' }
const VALID = { valid: true, reason: null, missing_scopes: [], device: DEVICE, consumer: CONSUMER, features: null }
const INVALID = { 'WWW-Authenticate': 'Bearer error="invalid_token"' }
const good = json(200, VALID)

type Answer = Parameters<typeof serve>[0]
type Options = Partial<Parameters<typeof keyCheck>[0]>

/** A check before a server that answers like this. */
async function checkBefore(answer: Answer, options: Options = {}) {
  const server = await serve(answer)
  after(server.close)
  const all = { baseUrl: server.url, token: 'svc_v1_own', projectId: 'prj_1', timeoutMs: 5_000, ...options }
  return { ...server, check: keyCheck(all), all }
}
const KEY = 'Bearer svc_dv_1'

test('each reason is a status, a code, a detail and a challenge', async () => {
  const bodies = [
    ['revoked', 401, 'key_revoked', 'This key was revoked.', INVALID],
    ['expired', 401, 'key_expired', 'This key has expired.', INVALID],
    ['unknown', 401, 'key_unknown', 'This key is not known.', INVALID],
    ['one of later', 401, 'key_unknown', 'This key is not known.', INVALID],
    ['consumer_blocked', 403, 'customer_blocked', 'This account is blocked.', {}],
    [
      ...(['missing_scope', 403, 'missing_scope', 'This key lacks a:read, b.'] as const),
      { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="a:read b"' },
    ],
  ] as const
  for (const [reason, status, code, detail, headers] of bodies) {
    const { check } = await checkBefore(json(200, { ...VALID, valid: false, reason, missing_scopes: ['a:read', 'b'] }))
    assert.deepEqual(await check(KEY), { key: null, refusal: { status, code, detail, headers } })
  }
})

test('only the values of the API let a request in', async () => {
  for (const answer of [
    { ...VALID, valid: 'true' },
    { ...VALID, valid: 1 },
    { ...VALID, device: null },
    { ...VALID, consumer: null },
    {},
    [],
  ]) {
    const { check } = await checkBefore(json(200, answer))
    assert.equal((await check(KEY)).refusal?.code, 'key_unknown')
  }
  const { check } = await checkBefore(good)
  assert.deepEqual(await check(KEY), { key: VALID, refusal: null })
})

test('features that are required are refused unless they are allowed, in the order in which they were asked for', async () => {
  const features = { a: { allowed: true }, b: { allowed: false }, c: { allowed: 'true' } }
  const { check } = await checkBefore(json(200, { ...VALID, features }))
  const detail = async (needs: KeyNeeds) => (await check(KEY, needs)).refusal?.detail
  assert.equal(await detail({ requireFeatures: ['a'] }), undefined)
  assert.equal(await detail({ requireFeatures: ['d', 'a', 'c', 'b'] }), 'Your plan does not include d, c, b.')
  // Those that are only asked for refuse nothing.
  assert.equal(await detail({ features: ['b', 'd'] }), undefined)
  const refused = await check(KEY, { requireFeatures: ['b'] })
  const { status, code, headers } = refused.refusal ?? assert.fail('let in')
  assert.deepEqual([status, code, headers], [403, 'feature_not_allowed', {}])
  const none = await checkBefore(good)
  assert.equal((await none.check(KEY, { requireFeatures: ['a'] })).refusal?.code, 'feature_not_allowed')
})

test('the API is told what is needed and no more, with the key of the program', async () => {
  const { check, requests } = await checkBefore(json(200, { ...VALID, features: { b: { allowed: true } } }))
  for (const needs of [
    undefined,
    { require: [], features: [], requireFeatures: [] },
    { require: ['r', 's'] },
    { features: ['a', 'b'], requireFeatures: ['b'] },
  ]) {
    assert.notEqual((await check(KEY, needs)).key, null)
  }
  assert.deepEqual(
    requests.map(({ text }) => JSON.parse(text)),
    [{}, {}, { require: ['r', 's'] }, { features: ['a', 'b'] }].map((more) => ({ token: 'svc_dv_1', ...more })),
  )
  for (const { method, path, headers } of requests) {
    assert.deepEqual([method, path], ['POST', '/platform/v1/devices/verify'])
    assert.deepEqual([headers.authorization, headers['x-project-id']], ['Bearer svc_v1_own', 'prj_1'])
  }
})

test('one token of RFC 6750 is sent on, and anything else is refused without asking', async () => {
  const { check, requests } = await checkBefore(good)
  const taken = ['Bearer a', 'bearer a', 'BEARER a', 'Bearer   a', 'Bearer A-z0.9_~+/=', `Bearer ${'x'.repeat(1_000)}`]
  for (const one of taken) assert.notEqual((await check(one)).key, null, one)
  assert.deepEqual(
    requests.map(({ text }) => JSON.parse(text).token),
    taken.map((one) => one.replace(/^bearer +/i, '')),
  )
  const bad = ['', 'Bearer', 'Bearer ', 'a', 'Basic a', 'Bearera', ' Bearer a', 'Bearer a ', 'Bearer a b', 'Bearer a,b']
  for (const one of [...bad, 'Bearer a\n', 'Bearer "a"', 'Bearer é', `Bearer ${'x'.repeat(1_001)}`, null, undefined]) {
    assert.deepEqual(await check(one), {
      key: null,
      refusal: {
        ...{ status: 401, code: 'key_missing', detail: 'Send your key as Authorization: Bearer.' },
        headers: { 'WWW-Authenticate': 'Bearer' },
      },
    })
  }
  assert.equal(requests.length, taken.length)
})

test('a failed call to the API is not blamed on the customer: 429 stays 429, all else becomes 503, each with Retry-After', async () => {
  const busy = { status: 429, code: 'rate_limited', detail: 'Too many requests. Wait and try again.' }
  const out = { status: 503, code: 'verification_unavailable', detail: 'The key could not be checked. Try again.' }
  const soon = new Date(Date.now() + 100_000).toUTCString()
  for (const [answer, refusal, wait, attempts] of [
    [problem(429, 'rate_limited', { 'Retry-After': '90' }), busy, /^90$/, 1],
    [problem(429, 'rate_limited', { 'Retry-After': soon }), busy, /^(9\d|100)$/, 1],
    [problem(429, 'rate_limited'), busy, /^1$/, 2],
    [problem(503, 'overloaded', { 'Retry-After': '60' }), out, /^60$/, 1],
    [problem(500, 'internal_error'), out, /^1$/, 2],
    [problem(400, 'invalid_json'), out, /^1$/, 1],
    [problem(401, 'key_revoked'), out, /^1$/, 1],
    [problem(403, 'insufficient_scope'), out, /^1$/, 1],
    [problem(404, 'not_found'), out, /^1$/, 1],
  ] as const) {
    const told: unknown[] = []
    const { check, requests } = await checkBefore(answer, { onError: (error) => told.push(error) })
    const { refusal: said } = await check(KEY)
    const { headers, ...rest } = said ?? assert.fail('let in')
    assert.deepEqual(rest, refusal)
    assert.deepEqual(Object.keys(headers), ['Retry-After'])
    assert.match(headers['Retry-After'] ?? '', wait)
    assert.equal(requests.length, attempts)
    const [error, ...more] = told
    assert(error instanceof PlatformError && more.length === 0)
  }
})

test('a wait until a time of the clock is not too short by a part of a second', async () => {
  const until = new Date(Date.now() + 100_000).toUTCString()
  const { check } = await checkBefore(problem(429, 'rate_limited', { 'Retry-After': until }))
  const seconds = Number((await check(KEY)).refusal?.headers['Retry-After'])
  assert(Date.now() + seconds * 1000 >= Date.parse(until), `${seconds} s`)
})

test('a check is tried a second time, and not a third', async () => {
  const recovered = await checkBefore(inTurn(problem(503, 'overloaded'), good))
  assert.notEqual((await recovered.check(KEY)).key, null)
  assert.equal(recovered.requests.length, 2)
  const lost = await checkBefore(inTurn(problem(503, 'overloaded'), problem(503, 'overloaded'), good))
  assert.equal((await lost.check(KEY)).refusal?.status, 503)
  assert.equal(lost.requests.length, 2)
})

test('a check takes three seconds at most, unless it is told otherwise', async () => {
  const never: Answer = () => {}
  const took = async (options: Options) => {
    const { check } = await checkBefore(never, options)
    const since = Date.now()
    assert.equal((await check(KEY)).refusal?.code, 'verification_unavailable')
    return Date.now() - since
  }
  const [short, standard] = await Promise.all([took({ timeoutMs: 200 }), took({ timeoutMs: undefined as never })])
  assert(short >= 190 && short < 2_900, `${short} ms`)
  assert(standard >= 2_900 && standard < 6_000, `${standard} ms`)
})

/** What a handler waits for before it answers, as handlers do. */
const work = () => new Promise((resolve) => setTimeout(resolve, 10))

/** The middleware in an app of each kind: how often the handler ran, and what was answered. */
const apps = {
  async express(options: Parameters<typeof expressKeys>[0]) {
    let handled = 0
    const app = express()
    app.get('/', expressKeys(options)(), async (request, response) => {
      handled += 1
      await work()
      response.json(request.customerKey)
    })
    const server = app.listen(0)
    await new Promise((resolve) => server.once('listening', resolve))
    after(() => server.close())
    const { port } = server.address() as { port: number }
    const ask = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}/`, { headers })
    return { ask, handled: () => handled }
  },
  async hono(options: Parameters<typeof honoKeys>[0]) {
    let handled = 0
    const app = new Hono<{ Variables: { customerKey: object } }>()
    app.get('/', honoKeys(options)() as never, async (c) => {
      handled += 1
      await work()
      return c.json(c.get('customerKey'))
    })
    const ask = async (headers: Record<string, string>) => app.request('/', { headers })
    return { ask, handled: () => handled }
  },
}

for (const [name, start] of Object.entries(apps)) {
  test(`${name}: a refusal is JSON with no-store, and the handler does not run; otherwise it runs once, and each request is checked anew`, async () => {
    const { requests, all } = await checkBefore(
      inTurn(
        json(200, { ...VALID, valid: false, reason: 'revoked' }),
        good,
        problem(429, 'rate_limited', { 'Retry-After': '90' }),
        good,
      ),
    )
    const { ask, handled } = await start(all)
    const refused = async (headers: Record<string, string>) => {
      const response = await ask(headers)
      const of = (header: string) => response.headers.get(header)
      const shown = [of('Content-Type')?.split(';')[0], of('Cache-Control'), of('WWW-Authenticate'), of('Retry-After')]
      return [response.status, await response.text(), ...shown]
    }
    const sent = ['application/json', 'no-store']
    assert.deepEqual(await refused({}), [
      401,
      '{"status":401,"code":"key_missing","detail":"Send your key as Authorization: Bearer."}',
      ...[...sent, 'Bearer', null],
    ])
    assert.deepEqual(await refused({ Authorization: KEY }), [
      401,
      '{"status":401,"code":"key_revoked","detail":"This key was revoked."}',
      ...[...sent, 'Bearer error="invalid_token"', null],
    ])
    assert.equal(handled(), 0)
    assert.deepEqual(await (await ask({ Authorization: KEY })).json(), VALID)
    assert.equal(handled(), 1)
    assert.deepEqual(await refused({ Authorization: KEY }), [
      429,
      '{"status":429,"code":"rate_limited","detail":"Too many requests. Wait and try again."}',
      ...[...sent, null, '90'],
    ])
    assert.equal((await ask({ authorization: KEY })).status, 200)
    assert.deepEqual([handled(), requests.length], [2, 4])
  })
}

test('express: the middleware is done once it has handed on, and leaves the response alone', async () => {
  const { all } = await checkBefore(good)
  const request: Parameters<ReturnType<ReturnType<typeof expressKeys>>>[0] = { headers: { authorization: KEY } }
  const fail = () => assert.fail('the response was written')
  let handed = 0
  await expressKeys(all)()(request, { statusCode: 200, setHeader: fail, end: fail }, () => {
    handed += 1
  })
  assert.deepEqual([handed, request.customerKey], [1, VALID])
})
