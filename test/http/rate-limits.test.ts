import { describe, expect, it } from 'vitest'
import docs from '../../docs/reference/api.md?raw'
import { newSecret } from '../../src/api-keys/secret'
import { RATE_LIMITS } from '../../src/http/limits'
import { newConnectionId } from '../../src/lib/ids'
import { SECOND } from '../../src/lib/time'
import settings from '../../wrangler.toml?raw'
import { advance, stopClock } from '../clock'
import { type Answer, call, countingD1, freshAddress, freshKey, stripeConnection } from '../harness'

const FULL: RateLimit = { limit: async () => ({ success: false }) }

/** What a 429 says of the limit and of the time to wait. */
const said = ({ status, body, headers }: Answer) => ({
  answer: [status, body.code],
  retry: headers.get('Retry-After'),
  limit: headers.get('RateLimit'),
  policy: headers.get('RateLimit-Policy'),
})

describe('a 429 states the limit, and how long to wait', () => {
  it.each([
    [
      'credential',
      3000,
      async () => {
        const { secret, project } = await freshKey()
        return call('/platform/v1/api-keys', { token: secret, project, bindings: { LIMIT_CREDENTIAL: FULL } })
      },
    ],
    [
      'sign_in',
      10,
      async () =>
        call('/auth/codes', {
          json: { email: 'limited@example.com' },
          method: 'POST',
          bindings: { LIMIT_SIGN_IN: FULL },
        }),
    ],
    [
      'ingest',
      1200,
      async () => {
        const { owner, project } = await freshKey()
        const { id } = await stripeConnection(owner.token, project)
        return call(`/ingest/${id}`, { method: 'POST', body: '{}', bindings: { LIMIT_INGEST: FULL } })
      },
    ],
    [
      'public',
      300,
      async () => call(`/p/${(await freshKey()).project}/jwks.json`, { bindings: { LIMIT_PUBLIC: FULL } }),
    ],
  ] as const)('%s', async (name, requests, refused) => {
    expect(said(await refused())).toEqual({
      answer: [429, 'rate_limited'],
      retry: '10',
      limit: `"${name}";r=0;t=10`,
      policy: `"${name}";q=${requests};w=60`,
    })
  })

  it.each([
    ['/sso/login/slg_1', 400],
    ['/sso/callback/sso_1?state=1', 400],
    ['/auth/sso/start?email=ada@acme.com', 303],
    ['/auth/sso/start?connection=sso_1', 303],
  ])('%s counts as public: an office has one address', async (path, usual) => {
    expect((await call(path, { bindings: { LIMIT_PUBLIC: FULL } })).status).toBe(429)
    expect((await call(path, { bindings: { LIMIT_SIGN_IN: FULL } })).status).toBe(usual)
  })

  it.each(['/openapi.json', '/openapi-3.0.json', '/catalog.schema.json', '/healthz'])(
    '%s counts as public, before anything is read',
    async (path) => {
      const { DB, count } = countingD1()
      const refused = await call(path, { bindings: { DB, LIMIT_PUBLIC: FULL } })
      expect([...said(refused).answer, said(refused).limit, count.trips]).toEqual([
        429,
        'rate_limited',
        '"public";r=0;t=10',
        0,
      ])
    },
  )

  it.each([
    [
      'auth_failure',
      20,
      async (headers: Record<string, string>) => {
        const { project } = await freshKey()
        const { secret } = await newSecret(0)
        return call('/platform/v1/api-keys', {
          token: secret,
          project,
          headers,
          bindings: { LIMIT_AUTH_FAILURE: FULL },
        })
      },
    ],
    [
      'unknown_connection',
      120,
      async (headers: Record<string, string>) => {
        const id = newConnectionId(Date.now(), 0)
        const bindings = { LIMIT_UNKNOWN_CONNECTION: FULL }
        return call(`/ingest/${id}`, { method: 'POST', body: '{}', headers, bindings })
      },
    ],
  ] as const)('%s: the seconds that are left of the block', async (name, failures, fail) => {
    stopClock()
    const address = { 'CF-Connecting-IP': freshAddress() }
    expect([401, 404]).toContain((await fail(address)).status)
    const left = async () => {
      const { answer, ...rest } = said(await fail(address))
      expect(answer).toEqual([429, 'rate_limited'])
      return rest
    }
    const policy = `"${name}";q=${failures};w=60`
    expect(await left()).toEqual({ retry: '10', limit: `"${name}";r=0;t=10`, policy })
    advance(7.5 * SECOND)
    expect(await left()).toEqual({ retry: '3', limit: `"${name}";r=0;t=3`, policy })
    advance(2.5 * SECOND)
    expect((await fail(address)).status).not.toBe(429)
  })
})

it('states the limits that wrangler.toml sets', () => {
  const set = [...settings.matchAll(/name = "LIMIT_(\w+)"\n.*\nsimple = \{ limit = (\d+), period = (\d+) \}/g)].map(
    ([, name = '', requests, window]) => [name.toLowerCase(), { requests: Number(requests), window: Number(window) }],
  )
  expect(Object.fromEntries(set)).toEqual(RATE_LIMITS)
  // Two limits with the same namespace would share their counts.
  const namespaces = [...settings.matchAll(/^namespace_id = "(\d+)"/gm)].map(([, id]) => id)
  expect(namespaces).toHaveLength(set.length)
  expect(new Set(namespaces).size).toBe(set.length)
})

it('shows the same limits in docs/reference/api.md', () => {
  const rows = [...docs.matchAll(/^\| `(\w+)` \| `LIMIT_(\w+)` \| ([\d,]+) /gm)]
  expect(rows.map(([, name, setting]) => [name, setting?.toLowerCase()])).toEqual(
    Object.keys(RATE_LIMITS).map((name) => [name, name]),
  )
  const shown = rows.map(([, name, , requests = '']) => [
    name,
    { requests: Number(requests.replaceAll(',', '')), window: 60 },
  ])
  expect(Object.fromEntries(shown)).toEqual(RATE_LIMITS)
})

it('says nothing of limits where nobody knows what remains of them', async () => {
  const { secret, project } = await freshKey()
  const { status, headers } = await call('/platform/v1/api-keys', { token: secret, project })
  expect([status, headers.get('RateLimit'), headers.get('RateLimit-Policy')]).toEqual([200, null, null])
})
