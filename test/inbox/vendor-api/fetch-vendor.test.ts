import { describe, expect, it, vi } from 'vitest'
import { fetchVendor, VendorCallError } from '../../../src/inbox/vendor-api/fetch-vendor'
import { paddleApi } from '../../../src/vendors/paddle-api'
import { STRIPE_VERSION, stripeApi } from '../../../src/vendors/stripe-api'
import {
  newPaddleAccount,
  newPaddleKey,
  newStripeAccount,
  newStripeKey,
  paddleObjects,
  seenBy,
  stripeObjects,
} from '../../harness'

const CUSTOMER = { pattern: '/v1/customers/{id}', ids: { id: 'cus_000001' } } as const
const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/

/** Why there is no answer. */
async function ruleOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(error instanceof VendorCallError)) throw error
  return error.rule
}

describe('a call', () => {
  it("is sent to the vendor's host with the key, our pattern and the query", async () => {
    const key = await newStripeAccount({ objects: stripeObjects(1) })
    await fetchVendor(stripeApi, key, { ...CUSTOMER, query: { 'expand[]': ['a', 'b c'], limit: '1' } })
    const [{ url, method, headers } = { url: '', method: '', headers: {} }] = await seenBy(key)
    expect([method, url]).toEqual([
      'GET',
      'https://api.stripe.com/v1/customers/cus_000001?expand%5B%5D=a&expand%5B%5D=b+c&limit=1',
    ])
    expect(headers).toMatchObject({
      authorization: `Bearer ${key}`,
      'stripe-version': STRIPE_VERSION,
      'user-agent': 'platform-api',
    })
  })

  it('may ask for another version', async () => {
    const key = await newStripeAccount({ objects: stripeObjects(1) })
    await fetchVendor(stripeApi, key, { ...CUSTOMER, headers: { 'Stripe-Version': '2020-08-27' } })
    expect(await seenBy(key)).toMatchObject([{ headers: { 'stripe-version': '2020-08-27' } }])
  })

  it.each([
    ['live', 'https://api.paddle.com/customers/ctm_000001'],
    ['sdbx', 'https://sandbox-api.paddle.com/customers/ctm_000001'],
  ] as const)('goes to the environment of the key: %s', async (mode, url) => {
    const key = await newPaddleAccount({ objects: paddleObjects(1) }, newPaddleKey(mode))
    const call = { pattern: '/customers/{id}', ids: { id: 'ctm_000001' } } as const
    expect(await fetchVendor(paddleApi, key, call)).toMatchObject({ status: 200, body: { data: { id: 'ctm_000001' } } })
    expect(await seenBy(key)).toMatchObject([{ url }])
  })

  it.each(['', '..', 'a/b', 'a?b', 'a#b', 'a%2fb', 'a b', 'ü', `https://evil.dev`, 'x'.repeat(201)])(
    'with the id %j is not sent',
    async (id) => {
      const sent = vi.spyOn(globalThis, 'fetch')
      expect(await ruleOf(fetchVendor(stripeApi, newStripeKey(), { ...CUSTOMER, ids: { id } }))).toBe('id')
      expect(sent).not.toHaveBeenCalled()
    },
  )
})

describe('an answer', () => {
  it('has the object, the clock of the vendor and how long it took', async () => {
    const key = await newStripeAccount({ objects: stripeObjects(1), date_skew_s: -3600 })
    const before = Date.now()
    const answer = await fetchVendor(stripeApi, key, CUSTOMER)
    expect(answer).toMatchObject({ status: 200, outcome: 'ok', code: null, retry_after_s: null })
    expect(answer.body).toMatchObject({ id: 'cus_000001', object: 'customer' })
    expect(JSON.parse(answer.text)).toEqual(answer.body)
    expect(answer.date).toMatch(SECONDS)
    expect(Date.parse(answer.date ?? '') - before).toBeLessThan(-3_590_000)
    expect(answer.started_at).toBeGreaterThanOrEqual(before)
    expect(answer.took_ms).toBeGreaterThanOrEqual(0)
  })

  it.each<[string, Parameters<typeof newStripeAccount>[0], object]>([
    ['no object', { objects: [] }, { status: 404, outcome: 'gone', code: 'resource_missing' }],
    [
      'no permission',
      { refused: ['customers'] },
      { status: 403, outcome: 'permission_missing', code: 'invalid_request_error' },
    ],
    ['a key that has ended', { fail: { status: 401 } }, { outcome: 'key_refused', code: 'api_key_expired' }],
    ['too many requests', { fail: { status: 429 } }, { outcome: 'failed', code: 'rate_limit', retry_after_s: null }],
    ['Retry-After in seconds', { fail: { status: 429, retry_after: '7' } }, { outcome: 'failed', retry_after_s: 7 }],
    [
      'Retry-After as a time that is past',
      { fail: { status: 503, retry_after: 'Wed, 21 Oct 2015 07:28:00 GMT' } },
      { status: 503, outcome: 'failed', retry_after_s: 0 },
    ],
    ['a broken vendor', { fail: { status: 500 } }, { outcome: 'failed', code: 'api_error' }],
    [
      'a proxy',
      { fail: { status: 502, body: '<h1>' } },
      { status: 502, outcome: 'failed', body: null, text: '<h1>', code: null },
    ],
    [
      'a list where an object should be',
      { fail: { status: 200, body: '[1]' } },
      { outcome: 'ok', body: null, text: '[1]' },
    ],
    ['an object that speaks of an error', { fail: { status: 200, body: '{"error":{"code":"x"}}' } }, { code: null }],
    ['half of the JSON', { fail: { status: 200, body: '{"id":' } }, { outcome: 'ok', body: null }],
    [
      'a code that is no word',
      { fail: { status: 400, body: '{"error":{"code":"a b"}}' } },
      { outcome: 'other', code: null },
    ],
  ])('is told by its status: %s', async (_, settings, expected) => {
    const key = await newStripeAccount({ objects: stripeObjects(1), ...settings })
    expect(await fetchVendor(stripeApi, key, CUSTOMER)).toMatchObject(expected)
  })

  it.each<[string, Parameters<typeof newPaddleAccount>[0], object]>([
    ['no permission', { refused: ['customers'] }, { status: 403, outcome: 'permission_missing', code: 'forbidden' }],
    ['a key that has ended', { fail: { status: 401 } }, { status: 403, outcome: 'key_refused', code: 'invalid_token' }],
    ['too many requests', { fail: { status: 429 } }, { outcome: 'failed', code: 'too_many_requests' }],
  ])("of Paddle's is told by its code: %s", async (_, settings, expected) => {
    const key = await newPaddleAccount({ objects: paddleObjects(1), ...settings })
    expect(await fetchVendor(paddleApi, key, { pattern: '/customers' })).toMatchObject(expected)
  })

  it.each<[string, Parameters<typeof newStripeAccount>[0], string]>([
    ['never comes', { hang: true }, 'time'],
    ['is late', { latency_ms: 2000 }, 'time'],
    ['leads elsewhere', { fail: { status: 302 } }, 'redirect'],
    ['is too large', { fail: { status: 200, body: ' '.repeat(3000) } }, 'size'],
  ])('that %s is none', async (_, settings, rule) => {
    const key = await newStripeAccount(settings)
    expect(await ruleOf(fetchVendor(stripeApi, key, CUSTOMER, { within: 500, most: 2048 }))).toBe(rule)
  })

  it('that never comes, because the host cannot be reached', async () => {
    const sent = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('Network connection lost.'))
    expect(await ruleOf(fetchVendor(stripeApi, newStripeKey(), CUSTOMER))).toBe('unreachable')
    expect(sent.mock.calls).toMatchObject([[expect.any(String), { cache: 'no-store', redirect: 'manual' }]])
  })

  it('has limits that nobody can raise', async () => {
    const limits: number[] = []
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms)
      return new AbortController().signal
    })
    const most = 2 * 1024 * 1024
    for (const more of [0, 1]) {
      vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(new Uint8Array(most + more)))
      const work = fetchVendor(stripeApi, newStripeKey(), CUSTOMER, { within: 60_000, most: 1e9 })
      expect(
        await work.then(
          () => 'passes',
          ({ rule }) => rule,
        ),
      ).toBe(more === 0 ? 'passes' : 'size')
    }
    expect(limits).toEqual([10_000, 10_000])
  })
})

describe('the log', () => {
  /** What one call writes. */
  async function logged(settings: Parameters<typeof newStripeAccount>[0]) {
    const key = await newStripeAccount({ objects: stripeObjects(1), ...settings })
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    await fetchVendor(stripeApi, key, CUSTOMER, { within: 500 }).catch(() => {})
    const lines = log.mock.calls.map(([line]) => String(line))
    for (const secret of [key, 'cus_000001', 'c1@acme.dev']) expect(lines.join()).not.toContain(secret)
    return lines.map((line) => JSON.parse(line))
  }

  it.each<[string, Parameters<typeof newStripeAccount>[0], object]>([
    ['an answer', {}, { level: 'info', status: 200 }],
    ['an error', { fail: { status: 429 } }, { level: 'info', status: 429, code: 'rate_limit' }],
    ['no answer', { hang: true }, { level: 'warn', failed: 'time' }],
  ])('has one line for %s, without key, id and body', async (_, settings, expected) => {
    const about = { event: 'vendor_call', vendor: 'Stripe', pattern: '/v1/customers/{id}', ms: expect.any(Number) }
    expect(await logged(settings)).toEqual([expect.objectContaining({ ...about, ...expected })])
  })
})
