import { describe, expect, it, vi } from 'vitest'
import { fetchOutside, OutsideRefusal, type OutsideRequest, outsideUrl } from '../../src/lib/fetch-outside'
import { newHost, seenBy, setHost } from '../harness'
import type { Plain } from '../outside/plain'

const OURS = ['platform.test', 'api.acme.dev']
const JSON_ONLY = { ours: OURS, accept: ['application/json'] }

/** The rule that refuses; `passes` if none does. */
async function ruleOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'passes'
  } catch (error) {
    if (!(error instanceof OutsideRefusal)) throw error
    return error.rule
  }
}

describe('an address', () => {
  it.each([
    ['https://idp.acme.dev/tenant?x=1', 'passes'],
    ['https://idp.acme.dev:443/', 'passes'],
    ['https://IDP.Acme.dev/', 'passes'],
    ['idp.acme.dev', 'malformed'],
    ['', 'malformed'],
    ['http://idp.acme.dev/', 'https'],
    ['ftp://idp.acme.dev/', 'https'],
    ['data:application/json,{}', 'https'],
    ['https://idp.acme.dev:8443/', 'port'],
    ['https://user@idp.acme.dev/', 'user_info'],
    ['https://:word@idp.acme.dev/', 'user_info'],
    ['https://127.0.0.1/', 'ip_literal'],
    ['https://0x7f.1/', 'ip_literal'],
    ['https://2130706433/', 'ip_literal'],
    ['https://169.254.169.254/latest', 'ip_literal'],
    ['https://%31%32%37.0.0.1/', 'ip_literal'],
    ['https://127。0。0。1/', 'ip_literal'],
    ['https://[::1]/', 'ip_literal'],
    ['https://[::ffff:7f00:1]/', 'ip_literal'],
    ['https://localhost/', 'special_use'],
    ['https://idp.localhost/', 'special_use'],
    ['https://idp.test/', 'special_use'],
    ['https://metadata.google.internal/', 'special_use'],
    ['https://printer.local/', 'special_use'],
    ['https://idp.example/', 'special_use'],
    ['https://idp.invalid/', 'special_use'],
    ['https://hidden.onion/', 'special_use'],
    ['https://name.alt/', 'special_use'],
    ['https://1.0.0.127.in-addr.arpa/', 'special_use'],
    ['https://intranet/', 'special_use'],
    ['https://router.lan/', 'special_use'],
    ['https://idp.corp/', 'special_use'],
    ['https://idp.default.svc/', 'special_use'],
    ['https://idp.home/', 'special_use'],
    ['https://box.home.arpa/', 'special_use'],
    ['https://idp.intranet/', 'special_use'],
    ['https://idp.private/', 'special_use'],
    ['https://idp.localdomain/', 'special_use'],
    ['https://127.0.0.1.nip.io/', 'special_use'],
    ['https://a-7f000001.NIP.io/', 'special_use'],
    ['https://10-0-0-1.sslip.io/', 'special_use'],
    ['https://idp.localtest.me/', 'special_use'],
    ['https://snip.io/', 'passes'],
    ['https://idp.corp.dev/', 'passes'],
    ['https://idp.acme.dev./', 'special_use'],
    ['https://idp..dev/', 'special_use'],
    ['https://api.acme.dev/', 'our_host'],
    ['https://eu.api.acme.dev/', 'our_host'],
    ['https://API.acme.dev/', 'our_host'],
    ['https://notapi.acme.dev/', 'passes'],
  ])('%s: %s', async (address, rule) => {
    expect(await ruleOf(() => outsideUrl(address, OURS))).toBe(rule)
  })

  it('that breaks a rule is not fetched', async () => {
    expect(await ruleOf(() => fetchOutside('https://eu.api.acme.dev/', JSON_ONLY))).toBe('our_host')
  })
})

describe('a response', () => {
  /** What becomes of a response of a host. */
  async function fetched(response: Plain, request: Partial<OutsideRequest> = {}) {
    const host = newHost('plain.dev')
    await setHost(host, { '/it': response })
    return fetchOutside(`https://${host}/it`, { ...JSON_ONLY, ...request })
  }
  const html = { headers: { 'Content-Type': 'text/html; charset=utf-8' } }

  it.each<[string, Plain, string]>([
    ['JSON', { body: '{}' }, 'passes'],
    ['JSON with a charset', { body: '{}', headers: { 'Content-Type': 'Application/JSON; charset=utf-8' } }, 'passes'],
    ['exactly 512 KB', { body: ' '.repeat(512 * 1024) }, 'passes'],
    ['one byte more', { body: ' '.repeat(512 * 1024 + 1) }, 'size'],
    ['a body without an end', { trouble: 'endless' }, 'size'],
    ['a redirect to a private address', { status: 302, headers: { Location: 'http://169.254.169.254/' } }, 'redirect'],
    ['a redirect to itself', { status: 308, headers: { Location: '/it' } }, 'redirect'],
    ['not modified', { status: 304 }, 'redirect'],
    ['a page', { body: '<p>', ...html }, 'media_type'],
    ['JSON that is compressed', { body: '{}', headers: { 'Content-Encoding': 'gzip' } }, 'passes'],
    ['exactly 512 KB, compressed', { body: ' '.repeat(512 * 1024), headers: { 'Content-Encoding': 'gzip' } }, 'passes'],
    [
      'few bytes that become many',
      { body: ' '.repeat(20 * 1024 * 1024), headers: { 'Content-Encoding': 'gzip' } },
      'size',
    ],
    ['an error page', { status: 503, body: '<p>', ...html }, 'passes'],
  ])('%s', async (_, response, rule) => {
    expect(await ruleOf(() => fetched(response))).toBe(rule)
  })

  it('that never comes', async () => {
    // The hosts of the tests cannot break a connection: Miniflare turns that into a response.
    vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('Network connection lost.'))
    expect(await ruleOf(() => fetchOutside('https://idp.acme.dev/', JSON_ONLY))).toBe('unreachable')
  })

  it.each(['silent', 'slow'] as const)('that is %s is given up after the time limit', async (trouble) => {
    expect(await ruleOf(() => fetched({ trouble }, { within: 100 }))).toBe('time')
  })

  it('of 200 MB is not read beyond 512 KB', async () => {
    // The real thing does not say how much of it was read.
    const chunk = new Uint8Array(64 * 1024)
    let sent = 0
    let cancelled = false
    const body = new ReadableStream({
      pull(controller) {
        sent += chunk.byteLength
        if (sent > 200 * 1024 * 1024) controller.close()
        else controller.enqueue(chunk)
      },
      cancel() {
        cancelled = true
      },
    })
    const headers = { 'Content-Type': 'application/json', 'Content-Length': '2' }
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(body, { headers }))
    expect(await ruleOf(() => fetchOutside('https://idp.acme.dev/', JSON_ONLY))).toBe('size')
    expect(sent).toBeLessThanOrEqual(1024 * 1024)
    expect(cancelled).toBe(true)
  })

  it.each([
    [undefined, 5000],
    [60_000, 5000],
    [100, 100],
  ])('has one time limit for its headers and its body: asked for %s, it is %s ms', async (within, expected) => {
    const limits: number[] = []
    const ending = new AbortController()
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms)
      return ending.signal
    })
    // A byte at a time, for ever. That it comes says that there is more, so only the limit ends it.
    let bytes = 0
    const drip = new ReadableStream({
      pull(controller) {
        if (++bytes === 1000) ending.abort()
        if (ending.signal.aborted) controller.error(ending.signal.reason)
        else controller.enqueue(new Uint8Array([32]))
      },
    })
    const response = new Response(drip, { headers: { 'Content-Type': 'application/json' } })
    const sent = vi.spyOn(globalThis, 'fetch').mockResolvedValue(response)
    const request = { ...JSON_ONLY, ...(within !== undefined && { within }) }
    expect(await ruleOf(() => fetchOutside('https://idp.acme.dev/', request))).toBe('time')
    expect(limits).toEqual([expected])
    expect(sent.mock.calls[0]?.[1]?.signal).toBe(ending.signal)
  })

  it('that was compressed is not any more, and says so', async () => {
    const response = await fetched({ body: '{"a":1}', headers: { 'Content-Encoding': 'gzip' } })
    expect(['Content-Encoding', 'Content-Length'].map((name) => response.headers.get(name))).toEqual([null, null])
    expect(await response.json()).toEqual({ a: 1 })
  })

  it('is complete, with its status and headers', async () => {
    const response = await fetched({ status: 400, body: '{"error":"x"}', headers: { 'X-Own': 'yes' } })
    expect([response.status, response.headers.get('X-Own'), await response.json()]).toEqual([
      400,
      'yes',
      { error: 'x' },
    ])
  })
})

it('A request is sent as it is given, and asks for the media type', async () => {
  const host = newHost('plain.dev')
  await setHost(host, { '/token': { body: '{}' } })
  const body = new URLSearchParams({ code: 'c' })
  await fetchOutside(`https://${host}/token`, {
    ...JSON_ONLY,
    method: 'POST',
    headers: { Authorization: 'Basic x' },
    body,
  })
  expect(await seenBy(host)).toMatchObject([
    { method: 'POST', headers: { accept: 'application/json', authorization: 'Basic x' }, body: 'code=c' },
  ])
})
