import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createClient, type PlatformClientOptions, PlatformError, unwrap } from 'platform-api-client'
import { inTurn, json, problem, serve } from './server.ts'

/* What the client does with a server that refuses, hangs up, or never answers. */

const CONSUMER = { id: 'csm_1', external_id: 'ada' }
const ok = json(200, CONSUMER)

async function clientOf(answer: Parameters<typeof serve>[0], options: Partial<PlatformClientOptions> = {}) {
  const server = await serve(answer)
  after(server.close)
  return { ...server, api: createClient({ baseUrl: server.url, token: 'key', projectId: 'prj_1', ...options }) }
}
const refusedWith = (fields: Partial<PlatformError>) => (error: unknown) => {
  assert(error instanceof PlatformError)
  for (const [name, value] of Object.entries(fields)) assert.deepEqual(error[name as keyof PlatformError], value)
  return true
}

test('a call is sent with token, project and parameters', async () => {
  const { api, requests } = await clientOf(ok)
  assert.deepEqual(await api.putConsumer({ consumer: 'ext:a/b', body: { email: 'a@example.com' } }), CONSUMER)
  await api.listConsumers({ state: 'active', limit: 2 })
  const [put, list] = requests
  assert.equal(`${put?.method} ${put?.path}`, 'PUT /platform/v1/consumers/ext%3Aa%2Fb')
  assert.equal(put?.text, '{"email":"a@example.com"}')
  assert.equal(put?.headers.authorization, 'Bearer key')
  assert.equal(put?.headers['x-project-id'], 'prj_1')
  assert.equal(list?.path, '/platform/v1/consumers?state=active&limit=2')
})

test('a delivery without a byte is sent', async () => {
  const { api, requests } = await clientOf(ok)
  await api.ingestDelivery({ connection_id: 'con_1', body: '' })
  assert.deepEqual(
    requests.map(({ path, text }) => `${path}${text}`),
    ['/ingest/con_1'],
  )
})

test('429 with Retry-After: the call waits that long', async () => {
  const { api, requests } = await clientOf(inTurn(problem(429, 'rate_limited', { 'Retry-After': '1' }), ok))
  assert.deepEqual(await api.getConsumer({ consumer: 'csm_1' }), CONSUMER)
  assert.equal(requests.length, 2)
  const waited = (requests[1]?.at ?? 0) - (requests[0]?.at ?? 0)
  assert(waited >= 1000 && waited < 5000, `${waited} ms`)
})

test('429 with a Retry-After beyond the time of a call: the error comes at once', async () => {
  const { api, requests } = await clientOf(problem(429, 'daily_limit_reached', { 'Retry-After': '3600' }))
  const expected = { code: 'daily_limit_reached', status: 429, retry_after: 3600, request_id: 'req_1' } as const
  await assert.rejects(api.getConsumer({ consumer: 'csm_1' }), refusedWith(expected))
  assert.equal(requests.length, 1)
})

test('429 without Retry-After, 503 and a cut connection: the call is repeated, with the same body', async () => {
  const cut = inTurn(
    problem(429, 'rate_limited'),
    problem(503, 'overloaded', { 'Retry-After': new Date(0).toUTCString() }),
    (response) => {
      response.writeHead(200, { 'Content-Length': '1000' })
      response.write('{', () => response.destroy())
    },
    ok,
  )
  const { api, requests } = await clientOf(cut)
  assert.deepEqual(await api.putConsumer({ consumer: 'csm_1', body: { name: 'Ada' } }), CONSUMER)
  assert.deepEqual(
    requests.map(({ text }) => text),
    Array(4).fill('{"name":"Ada"}'),
  )
})

test('the number of attempts and their time are bounded', async () => {
  const { api, requests, url } = await clientOf(problem(500, 'internal_error'))
  await assert.rejects(api.getConsumer({ consumer: 'csm_1' }), refusedWith({ code: 'internal_error', status: 500 }))
  assert.equal(requests.length, 4)
  const hasty = createClient({ baseUrl: url, retry: { attempts: 100, totalMs: 300 } })
  // On a busy machine, the time can end before the last attempt is answered: then the error has no status.
  await assert.rejects(hasty.getConsumer({ consumer: 'csm_1' }), (error: unknown) => {
    assert(error instanceof PlatformError && [500, null].includes(error.status), String(error))
    return true
  })
  assert(requests.length > 4 && requests.length < 14, `${requests.length} requests`)
})

test('with retry: false, a call is sent once', async () => {
  const { api, requests } = await clientOf(problem(503, 'overloaded'), { retry: false })
  await assert.rejects(api.createGrant({ body: { consumer: 'csm_1' } }), refusedWith({ code: 'overloaded' }))
  assert.equal(requests.length, 1)
  assert.equal(requests[0]?.headers['idempotency-key'], undefined)
})

test('a POST that takes Idempotency-Key is repeated with one key, and its own key counts', async () => {
  const { api, requests } = await clientOf(inTurn(problem(503, 'overloaded'), json(201, {}), json(201, {})))
  await unwrap(api.POST('/platform/v1/billing/grants', { body: { consumer: 'csm_1' } }))
  await api.createGrant({ body: { consumer: 'csm_1' } }, { headers: { 'Idempotency-Key': 'mine' } })
  const keys = requests.map(({ headers }) => headers['idempotency-key'])
  assert.match(String(keys[0]), /^[\da-f-]{36}$/)
  assert.deepEqual(keys, [keys[0], keys[0], 'mine'])
})

test('a POST that only reads is repeated, any other POST is not', async () => {
  const { api, requests } = await clientOf(inTurn(problem(503, 'overloaded'), ok, problem(503, 'overloaded')))
  await api.checkEntitlements({ body: { consumers: ['csm_1'], features: ['sso'] } })
  assert.equal(requests.length, 2)
  await assert.rejects(api.blockConsumer({ consumer: 'csm_1', body: {} }), refusedWith({ code: 'overloaded' }))
  assert.equal(requests.length, 3)
  assert(requests.every(({ headers }) => headers['idempotency-key'] === undefined))
})

test('a server that never answers is a timeout, and the attempt is repeated', async () => {
  // Counted where they are sent: on a busy machine, the server may not have read the first one when its time is over.
  let sent = 0
  const counting = (request: Request) => {
    sent += 1
    return fetch(request)
  }
  const { api } = await clientOf(() => {}, { timeoutMs: 50, retry: { attempts: 2 }, fetch: counting })
  await assert.rejects(api.getConsumer({ consumer: 'csm_1' }), refusedWith({ code: 'timeout', status: null }))
  assert.equal(sent, 2)
})

test('a server that is not there is unreachable, with the cause', async () => {
  const api = createClient({ baseUrl: 'http://127.0.0.1:1', retry: false })
  await assert.rejects(api.getHealth(), (error) => {
    assert(error instanceof PlatformError && error.cause instanceof TypeError)
    return refusedWith({ code: 'unreachable', status: null, request_id: null })(error)
  })
})

test('an abort ends a wait, and a running request, at once', async () => {
  for (const answer of [problem(429, 'rate_limited', { 'Retry-After': '20' }), () => {}]) {
    const { api } = await clientOf(answer)
    const reason = new Error('enough')
    const abort = new AbortController()
    setTimeout(() => abort.abort(reason), 100)
    const startedAt = Date.now()
    await assert.rejects(api.getConsumer({ consumer: 'csm_1' }, { signal: abort.signal }), reason)
    assert(Date.now() - startedAt < 2000)
    await assert.rejects(api.getConsumer({ consumer: 'csm_1' }, { signal: abort.signal }), reason)
  }
})

test('what is refused, and what no API says', async () => {
  const errors = [{ pointer: '/email', code: 'malformed', message: 'It is no address.' }] as const
  const refusal = { status: 422, code: 'validation_failed', detail: 'Correct it.', request_id: 'req_2', errors }
  const { api, requests } = await clientOf(
    inTurn(json(422, refusal, { 'X-Request-Id': 'req_2' }), (response) =>
      response.writeHead(403).end('<h1>A proxy</h1>'),
    ),
  )
  const { error, response } = await api.GET('/platform/v1/consumers')
  assert.equal(response.status, 422)
  assert.deepEqual(error, refusal)
  await assert.rejects(
    api.listConsumers(),
    refusedWith({ code: 'unexpected_response', status: 403, detail: 'status 403: <h1>A proxy</h1>' }),
  )
  assert.equal(requests.length, 2)
  const page = await clientOf((response) => response.end('<h1>A proxy</h1>'))
  await assert.rejects(page.api.listConsumers(), refusedWith({ code: 'unexpected_response' }))
  const again = await clientOf(json(422, refusal, { 'X-Request-Id': 'req_2' }))
  await assert.rejects(
    again.api.listConsumers(),
    refusedWith({ code: 'validation_failed', request_id: 'req_2', detail: 'Correct it.', errors: [...errors] }),
  )
})

test('a response without a body is undefined', async () => {
  const { api } = await clientOf((response) => response.writeHead(204).end())
  assert.equal(await api.revokeGrant({ id: 'grt_1' }), undefined)
})
