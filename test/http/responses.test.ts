import { beforeAll, describe, expect, it } from 'vitest'
import { call, head } from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { ROWS } from '../routes/table'
import { addressIn, tokenFor } from '../routes/walk'
import { newWorld, type World } from '../routes/world'

let world: World
beforeAll(async () => {
  world = await newWorld()
})

describe('the address that a start prints', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

  it('leads a browser to the console', async () => {
    const answer = await call('/', { headers: { Accept: BROWSER } })
    expect([answer.status, answer.headers.get('Location')]).toEqual([302, '/console'])
    expect(answer.headers.get('Vary')).toBe('Accept')
  })

  it.each(['*/*', 'application/json', ''])('names to anything else what is served: Accept %j', async (Accept) => {
    const answer = await call<Record<string, string>>('/', { headers: { Accept } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Vary')).toBe('Accept')
    const [api, console, docs, ...paths] = Object.values(answer.body)
    // A file answers at /docs: the Worker is not asked. test/docs-site.test.ts looks at it.
    expect([api, docs]).toEqual(['/platform/v1', '/docs'])
    expect([console, ...paths]).toEqual(['/console', '/openapi.json', '/errors', '/healthz'])
    for (const path of [console ?? '', ...paths]) {
      expect((await call(path)).status, path).toBeLessThan(400)
    }
  })

  it('takes GET alone, at that path alone', async () => {
    const posted = await call('/', { method: 'POST' })
    expect([posted.status, posted.headers.get('Allow')]).toEqual([405, 'HEAD, GET'])
    for (const path of ['//', '/nothing', '/platform', '/platform/v1', '/platform/v1/', '/healthz/']) {
      const answer = await call(path, { headers: { Accept: BROWSER } })
      expect([answer.status, answer.body.code], path).toEqual([404, 'not_found'])
    }
  })
})

describe('every response', () => {
  const READS = ROUTES.filter(
    ({ method, path }) => method === 'GET' && path !== '/platform/v1/billing/webhooks/replays/:replay_id',
  )
  const LISTED = [
    ...READS.map(nameOf),
    'GET /openapi.json',
    'GET /openapi-3.0.json',
    'GET /catalog.schema.json',
    'GET /errors',
    'GET /',
  ]

  it.each(LISTED)('to HEAD is that of GET without a body: %s', async (name) => {
    const route = READS.find((one) => nameOf(one) === name)
    const query = route && ROWS[name]?.query
    const path = route ? addressIn(world, route) + (query ? `?${query}` : '') : name.slice(4)
    // Metrics have a token of their own, and are not there without one.
    const METRICS_TOKEN = 'm'.repeat(32)
    const options =
      path === '/metrics'
        ? { token: METRICS_TOKEN, bindings: { METRICS_TOKEN } }
        : { project: world.project, token: route ? tokenFor(world, route) : null }
    const got = await call(path, options)
    const headed = await head(path, options)
    expect([got.status, headed.status]).toEqual([200, 200])
    expect(got.text.length).toBeGreaterThan(0)
    expect(headed.text).toBe('')
    expect(headed.headers.get('Content-Type')).toBe(got.headers.get('Content-Type'))
    expect((await head(`${path}?nonsense=1`, options)).status).toBe((await call(`${path}?nonsense=1`, options)).status)
  })

  it('to HEAD without a credential is a 401', async () => {
    expect((await head('/platform/v1/api-keys', {})).status).toBe(401)
  })

  it.each([
    'abcdefgh',
    'A1._:-zz',
    '6f9619ff-8b86-d011-b42d-00cf4fc964ff',
    'x'.repeat(64),
    'req_01m7z1eqvv7fbcxatc4h3t83zr',
  ])('keeps a sane X-Request-Id: %s', async (id) => {
    for (const path of ['/healthz', '/platform/v1/projects', '/nothing']) {
      const answer = await call(path, { headers: { 'X-Request-Id': id } })
      expect(answer.headers.get('X-Request-Id')).toBe(id)
      if (answer.status !== 200) expect(answer.body.request_id).toBe(id)
    }
  })

  it.each([
    'short',
    'x'.repeat(65),
    'two words',
    '"quoted-id"',
    'a/b/c/d/e/f',
    '<script>x</script>',
    '{"a":"bcdef"}',
    'żółć-żółć',
    '',
  ])('replaces any other: %s', async (id) => {
    const latin1 = new TextDecoder('latin1').decode(new TextEncoder().encode(id))
    const answer = await call('/nothing', { headers: { 'X-Request-Id': latin1 } })
    const sent = answer.headers.get('X-Request-Id')
    expect(sent).toMatch(/^req_[0-9a-z]{26}$/)
    expect(answer.body.request_id).toBe(sent)
  })

  it('has a request id of its own', async () => {
    const sent = await Promise.all(Array.from({ length: 20 }, () => call('/healthz')))
    expect(new Set(sent.map(({ headers }) => headers.get('X-Request-Id'))).size).toBe(20)
  })

  const WHERE: [string, string, number, boolean][] = [
    ['GET', '/platform/v1/projects', 401, true],
    ['GET', '/platform/v1/nothing', 404, true],
    ['GET', '/platform/nothing', 404, true],
    ['PUT', '/platform/v1/projects', 405, true],
    ['POST', '/auth/codes', 415, true],
    ['GET', '/auth/nothing', 404, true],
    ['GET', '/auth/sign-in', 401, true],
    ['POST', '/ingest/none', 404, true],
    ['GET', '/healthz', 200, false],
    ['GET', '/openapi.json', 200, false],
    ['GET', '/errors', 200, false],
    ['GET', '/', 200, false],
    ['GET', '/nothing', 404, false],
  ]
  const LOCKED = /^default-src 'none';(?=.*object-src 'none')(?=.*base-uri 'none')(?=.*frame-ancestors 'none')/
  it.each(WHERE)(
    'is not sniffed, not embedded, not shared across origins, and on the plane not stored: %s %s (%i)',
    async (method, path, status, plane) => {
      const answer = await call(path, { method, headers: { Origin: 'https://evil.example' } })
      expect(answer.status).toBe(status)
      expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
      expect(answer.headers.get('Content-Security-Policy')).toMatch(LOCKED)
      if (plane) expect(answer.headers.get('Cache-Control')).toBe('no-store')
      expect([...answer.headers.keys()].filter((key) => key.startsWith('access-control-'))).toEqual([])
      expect(answer.headers.get('Set-Cookie')).toBeNull()
    },
  )
})
