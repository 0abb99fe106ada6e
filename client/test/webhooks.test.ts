import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PlatformError, verifyWebhook } from 'platform-api-client'
import { Webhook } from 'standardwebhooks'

/* The verifier, with the signatures of the standard's own library as the measure. */

const secretOf = (text: string) => `whsec_${Buffer.from(text).toString('base64')}`
const OLD = secretOf('the old secret of this test')
const NEW = secretOf('the new secret: ÿ≠ø')
const BODY = JSON.stringify({
  type: 'consumer.created',
  timestamp: '2026-11-21T08:47:00.123Z',
  data: { id: 'chg_1', name: 'Ada ✓' },
})
const EVENT = { id: 'chg_1', ...JSON.parse(BODY) }

function signed({ body = BODY, secrets = [NEW], at = new Date(), id = 'chg_1' } = {}): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  }
}
const refused = (promise: Promise<unknown>) =>
  assert.rejects(promise, (error) => error instanceof PlatformError && error.code === 'invalid_webhook')

test('takes what the library signs, as text, bytes and headers of either kind', async () => {
  const headers = signed()
  for (const body of [BODY, new TextEncoder().encode(BODY), Buffer.from(BODY), new TextEncoder().encode(BODY).buffer]) {
    assert.deepEqual(await verifyWebhook(body, headers, NEW), EVENT)
  }
  assert.deepEqual(await verifyWebhook(BODY, new Headers(headers), [NEW]), EVENT)
  const capital = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
  assert.deepEqual(await verifyWebhook(BODY, capital, NEW), EVENT)
})

test('takes any of several secrets and signatures, while a secret is exchanged', async () => {
  for (const secrets of [[OLD], [NEW], [OLD, NEW]]) {
    assert.deepEqual(await verifyWebhook(BODY, signed({ secrets }), [OLD, NEW]), EVENT)
  }
  await verifyWebhook(BODY, signed({ secrets: [OLD, NEW] }), NEW)
  await refused(verifyWebhook(BODY, signed({ secrets: [OLD] }), NEW))
})

test('refuses whatever the library refuses, and the library what it refuses', async () => {
  const old = new Date(Date.now() - 301_000)
  const ahead = new Date(Date.now() + 302_000)
  const without = (name: string) => Object.fromEntries(Object.entries(signed()).filter(([key]) => key !== name))
  const signature = signed()['webhook-signature'] ?? ''
  const cases: [body: string, headers: Record<string, string>][] = [
    [`${BODY} `, signed()],
    [BODY, { ...signed(), 'webhook-id': 'chg_2' }],
    [BODY, { ...signed(), 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 5) }],
    [BODY, { ...signed(), 'webhook-timestamp': 'now' }],
    [BODY, signed({ at: old })],
    [BODY, signed({ at: ahead })],
    [BODY, { ...signed(), 'webhook-signature': signature.replace('v1,', 'v2,') }],
    [BODY, { ...signed(), 'webhook-signature': signature.slice('v1,'.length) }],
    [BODY, { ...signed(), 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }],
    [BODY, { ...signed(), 'webhook-signature': 'v1,' }],
    [BODY, { ...signed(), 'webhook-signature': 'v1,∞' }],
    ...['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
      (name) => [BODY, without(name)] as [string, Record<string, string>],
    ),
  ]
  for (const [body, headers] of cases) {
    assert.throws(() => new Webhook(NEW).verify(body, headers), JSON.stringify(headers))
    await refused(verifyWebhook(body, headers, NEW))
  }
  await verifyWebhook(BODY, signed({ at: old }), NEW, { toleranceS: 400 })
})

test('a body that is signed but is no JSON is refused; a secret that is none is a mistake', async () => {
  await refused(verifyWebhook('{', signed({ body: '{' }), NEW))
  await assert.rejects(verifyWebhook(BODY, signed(), 'whsec_'), TypeError)
  await assert.rejects(verifyWebhook(BODY, signed(), []), TypeError)
  await assert.rejects(verifyWebhook(BODY, signed(), [NEW, 'whsec_∞']), TypeError)
})

test('more signatures than 20 are not looked at', async () => {
  const [right = ''] = [signed()['webhook-signature']]
  const among = (n: number) => ({ ...signed(), 'webhook-signature': [...Array(n).fill('v1,AAAA'), right].join(' ') })
  await verifyWebhook(BODY, among(19), NEW)
  await refused(verifyWebhook(BODY, among(20), NEW))
})
