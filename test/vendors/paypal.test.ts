import { describe, expect, it } from 'vitest'
import { paypal } from '../../src/vendors/paypal'
import type { VendorKeys } from '../../src/vendors/vendor'
import {
  bodyCases,
  type Case,
  type Fixture,
  header,
  mutations,
  now,
  rotation,
  twice,
  URL_,
  utf8,
  verify,
} from './harness'
import { addressOf, certificateFor, newSigner, paypalHeaders, type Signer, sharedSigner } from './paypal-signed'

const DAY = 86_400_000
const signer = await sharedSigner()
const other = await newSigner()
const ADDRESS = addressOf('CERT-360caa42-fca2a594-a5cafa77')
const OTHER = addressOf('CERT-360caa42-fca2a594-1d93a270')

/** What is published, as the receiver gives it. */
const published =
  (texts: Record<string, string>): VendorKeys =>
  async (address, isKey) => {
    const text = texts[address]
    return text !== undefined && isKey(text) ? text : null
  }
const knowing = (texts: Record<string, string>) => ({
  ...paypal,
  verify: ((delivery, secrets) =>
    paypal.verify({ ...delivery, keys: published(texts) }, secrets)) as typeof paypal.verify,
})

const fixture: Fixture = {
  vendor: knowing({
    [ADDRESS]: signer.pem,
    [OTHER]: other.pem,
    [addressOf('CERT-1', 'api.paypal.com')]: signer.pem,
    [addressOf('CERT-1', 'api-m.paypal.com')]: signer.pem,
    [addressOf('CERT-1', 'api-m.sandbox.paypal.com')]: signer.pem,
  }),
  secret: '9XL90610J3647323C',
  other: '1JE4291016473214C',
  body: '{"id":"WH-1","event_type":"PAYMENT.SALE.COMPLETED","summary":"Zoë “Ω” 🦊","resource":{"id":"8"}}',
  sign: async (body, webhook, at) => ({
    headers: new Headers(await paypalHeaders({ body, webhook, signer, address: ADDRESS, at })),
    body,
  }),
}

const at = (address: string) => header('paypal-cert-url', address)
type Change = NonNullable<Case['change']>
const mismatch = (name: string, change: Change): Case => ({ name, expected: 'signature_mismatch', change })
const malformed = (name: string, change: Change): Case => ({ name, expected: 'signature_malformed', change })
const flipped = (text: string) => (text[0] === 'A' ? 'B' : 'A') + text.slice(1)
const NAMES = ['transmission-sig', 'transmission-id', 'transmission-time', 'cert-url', 'auth-algo'].map(
  (name) => `paypal-${name}`,
)
/** Signed right, but of another time, id or webhook than what the test expects. */
const signedAs =
  (change: Partial<Parameters<typeof paypalHeaders>[0]>): Change =>
  async ({ body }) => ({
    headers: new Headers(
      await paypalHeaders({ body, webhook: fixture.secret, signer, address: ADDRESS, at: now(), ...change }),
    ),
    body,
  })

mutations('paypal', fixture, [
  { name: 'as signed', expected: 'accepted' },
  ...bodyCases('signature_mismatch'),
  ...NAMES.flatMap((name): Case[] => [
    { name: `${name} missing`, expected: 'signature_missing', change: header(name, null) },
    { name: `${name} empty`, expected: 'signature_missing', change: header(name, '') },
    malformed(`${name} twice`, twice(name)),
  ]),
  mismatch('another id', header('paypal-transmission-id', 't-2')),
  mismatch('the id in other letters', header('paypal-transmission-id', 'T-1')),
  malformed('a separator in the id', header('paypal-transmission-id', 't|1')),
  malformed('an id of 51 characters', header('paypal-transmission-id', 'x'.repeat(51))),
  mismatch('a second later', header('paypal-transmission-time', new Date(now() + 1000).toISOString())),
  mismatch(
    'the same time, written otherwise',
    header('paypal-transmission-time', (it) => it.replace('Z', '+00:00')),
  ),
  malformed('a time in seconds', header('paypal-transmission-time', '1790000000')),
  malformed(
    'a time with a separator',
    header('paypal-transmission-time', (it) => `${it}|x`),
  ),
  malformed('a day that does not exist', header('paypal-transmission-time', '2026-02-30T00:00:00Z')),
  mismatch('a digit of the signature', header('paypal-transmission-sig', flipped)),
  mismatch('a signature of zeros', header('paypal-transmission-sig', new Uint8Array(256).toBase64())),
  malformed(
    'the signature without its padding',
    header('paypal-transmission-sig', (it) => it.replace(/=+$/, '')),
  ),
  malformed(
    'the signature with more padding',
    header('paypal-transmission-sig', (it) => `${it}=`),
  ),
  malformed(
    'a space in the signature',
    header('paypal-transmission-sig', (it) => `${it.slice(0, 9)} ${it.slice(9)}`),
  ),
  malformed(
    'the signature in base64url',
    header('paypal-transmission-sig', (it) => `-_${it.slice(2)}`),
  ),
  malformed('a short signature', header('paypal-transmission-sig', new Uint8Array(128).toBase64())),
  malformed('a long signature', header('paypal-transmission-sig', new Uint8Array(513).toBase64())),
  malformed('SHA-1', header('paypal-auth-algo', 'SHA1withRSA')),
  malformed('none', header('paypal-auth-algo', 'none')),
  malformed('the algorithm in small letters', header('paypal-auth-algo', 'sha256withrsa')),
  mismatch("another certificate of PayPal's", at(OTHER)),
  mismatch('signed with another key', signedAs({ signer: other })),
  mismatch('of another webhook', signedAs({ webhook: fixture.other })),
  mismatch('of no webhook', signedAs({ webhook: '' })),
  mismatch('of the simulator', signedAs({ webhook: 'WEBHOOK_ID' })),
  ...[
    ADDRESS.replace('https:', 'http:'),
    ADDRESS.replace('api.sandbox.paypal.com', 'api.paypal.com.evil.dev'),
    ADDRESS.replace('api.sandbox.paypal.com', 'evil.dev'),
    ADDRESS.replace('api.sandbox.paypal.com', 'www.paypal.com'),
    ADDRESS.replace('api.sandbox', 'api.sandbox.evil'),
    ADDRESS.replace('api.sandbox', 'apixsandbox'),
    ADDRESS.replace('paypal.com', 'paypalxcom'),
    ADDRESS.replace('paypal.com/', 'paypal.com:8443/'),
    ADDRESS.replace('paypal.com/', 'paypal.com:443/'),
    ADDRESS.replace('https://', 'https://user@'),
    ADDRESS.replace('https://', 'https://evil.dev@'),
    ADDRESS.replace('https://', 'https://evil.dev\\@'),
    ADDRESS.replace('paypal.com/', 'paypal.com@evil.dev/'),
    ADDRESS.replace('paypal.com/', 'paypal.com./'),
    ADDRESS.replace('/certs/', '/certs/../certs/'),
    ADDRESS.replace('/certs/', '/certs/%2e%2e/'),
    ADDRESS.replace('/certs/', '//certs/'),
    ADDRESS.replace('/certs/', '\\certs/'),
    ADDRESS.replace('CERT-', 'CERT-%2e'),
    ADDRESS.replace('/v1/notifications/certs/', '/v2/notifications/certs/'),
    ADDRESS.replace('CERT-', 'cert-'),
    ADDRESS.replace('https', 'HTTPS'),
    ADDRESS.replace('paypal.com', 'PAYPAL.com'),
    `${ADDRESS}/..`,
    `${ADDRESS}?x=1`,
    `${ADDRESS}#x`,
    `${ADDRESS};x`,
    `${ADDRESS}${'a'.repeat(64)}`,
    addressOf('CERT-'),
    addressOf(''),
    'data:text/plain,x',
    'x',
  ].map((address) => malformed(`the address ${address}`, at(address))),
  ...['api.paypal.com', 'api-m.paypal.com', 'api-m.sandbox.paypal.com'].map(
    (host): Case => ({
      name: `the host ${host}`,
      expected: 'accepted',
      change: at(addressOf('CERT-1', host)),
    }),
  ),
  { name: 'three days late, as a repetition', expected: 'accepted', late: 3 * DAY },
  { name: 'more than three days late', expected: 'signature_timestamp', late: 3 * DAY + 1 },
  { name: 'five minutes early', expected: 'accepted', late: -300_000 },
  { name: 'more than five minutes early', expected: 'signature_timestamp', late: -300_001 },
  { name: 'no live secret', expected: 'signature_mismatch', secrets: [] },
  { name: 'an empty secret', expected: 'signature_mismatch', secrets: [''] },
  { name: 'a secret that ends the same', expected: 'signature_mismatch', secrets: [fixture.secret.slice(1)] },
  { name: 'the secret third of three', expected: 'accepted', secrets: ['', fixture.other, fixture.secret] },
])
rotation('paypal', fixture)

describe('a certificate', () => {
  const sent = now()
  const delivered = async (made: Signer, texts: Record<string, string>, arrived = sent) => {
    const body = utf8(fixture.body)
    const headers = await paypalHeaders({ body, webhook: fixture.secret, signer: made, address: ADDRESS, at: sent })
    const delivery = { headers: new Headers(headers), bytes: body, url: URL_, now: arrived }
    return knowing(texts).verify(delivery, [fixture.secret])
  }
  const outcome = async (made: Signer, text = made.pem, arrived = sent) => {
    const verdict = await delivered(made, { [ADDRESS]: text }, arrived)
    return verdict.ok ? 'accepted' : [verdict.cause, verdict.skew_ms]
  }
  const unavailable = ['key_unavailable', undefined]
  const over = ['signature_timestamp', undefined]

  it('must be valid when the delivery was signed and when it comes', async () => {
    const made = (from: number, until: number) => newSigner({ from: new Date(from), until: new Date(until) })
    const year = await made(sent - DAY, sent + DAY)
    expect(await outcome(year)).toBe('accepted')
    expect(await outcome(year, year.pem, sent + 2 * DAY)).toEqual(over)
    expect(await outcome(await made(sent - 2 * DAY, sent - DAY))).toEqual(over)
    expect(await outcome(await made(sent + DAY, sent + 2 * DAY))).toEqual(over)
    const begins = await made(sent + DAY, sent + 9 * DAY)
    expect(await outcome(begins, begins.pem, sent + 2 * DAY)).toEqual(over)
  })

  it.each([
    ['messageverificationcerts.paypal.com', 'accepted'],
    ['messageverificationcerts.sandbox.paypal.com', 'accepted'],
    ['www.paypal.com', unavailable],
    ['messageverificationcerts.paypal.com.evil.dev', unavailable],
    ['x.messageverificationcerts.paypal.com', unavailable],
    ['messageverificationcerts.evil.dev/.paypal.com', unavailable],
    ['messageverificationcerts.notpaypal.com', unavailable],
  ])('of %s', async (name, expected) => {
    expect(await outcome(await newSigner({ name }))).toEqual(expected)
  })

  it('is the first of several, and the only thing that is read', async () => {
    expect(await outcome(signer, `Bag Attributes\n${signer.pem}\n${other.pem}`)).toBe('accepted')
    expect(await outcome(signer, `${other.pem}\n${signer.pem}`)).toEqual(['signature_mismatch', undefined])
    for (const text of ['', '{}', '<html>', signer.pem.replace('MII', 'MIJ'), signer.pem.slice(0, 900)])
      expect([text.length, await outcome(signer, text)]).toEqual([text.length, unavailable])
  })

  it('has an RSA key of 2,048 bits or more', async () => {
    const pair = { name: 'ECDSA', namedCurve: 'P-256' }
    const keys = (await crypto.subtle.generateKey(pair, true, ['sign', 'verify'])) as CryptoKeyPair
    const name = 'messageverificationcerts.paypal.com'
    const elliptic = await certificateFor(keys, name, [new Date('2020-01-01'), new Date('2040-01-01')])
    expect(await outcome(signer, elliptic)).toEqual(unavailable)
    expect(await outcome(await newSigner({ bits: 1024 }))).toEqual(['signature_malformed', undefined])
    expect(await outcome(await newSigner({ bits: 4096 }))).toBe('accepted')
  })

  it('that is not to be had says nothing about the signature', async () => {
    expect(await delivered(signer, {})).toEqual({ ok: false, cause: 'key_unavailable' })
    expect(
      await verify({ ...fixture, vendor: paypal }, await fixture.sign(utf8('{}'), fixture.secret, sent), sent),
    ).toEqual({ ok: false, cause: 'key_unavailable' })
  })
})

/** Four bytes that give a body the CRC-32 of another one, by going through the table backwards. */
function sameSum(wanted: Uint8Array, begins: Uint8Array): Uint8Array<ArrayBuffer> {
  const table = Uint32Array.from({ length: 256 }, (_, n) => {
    let c = n
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
    return c
  })
  const after = (bytes: Uint8Array) => bytes.reduce((c, byte) => (table[(c ^ byte) & 255] ?? 0) ^ (c >>> 8), -1) >>> 0
  let c = after(wanted)
  for (let k = 0; k < 4; k++) {
    const index = table.findIndex((entry) => entry >>> 24 === c >>> 24)
    c = (((c ^ (table[index] ?? 0)) << 8) | index) >>> 0
  }
  const four = (c ^ after(begins)) >>> 0
  return Uint8Array.of(...begins, four & 255, (four >>> 8) & 255, (four >>> 16) & 255, four >>> 24)
}

it('binds no body: another one of the same sum is accepted, so nothing is concluded from an event', async () => {
  const sent = now()
  const signed = await fixture.sign(utf8(fixture.body), fixture.secret, sent)
  const forged = sameSum(
    signed.body,
    utf8('{"id":"WH-2","event_type":"BILLING.SUBSCRIPTION.ACTIVATED","resource":{}} '),
  )
  expect(await verify(fixture, { ...signed, body: forged }, sent)).toEqual({ ok: true, secret: 0 })
  const [event] = paypal.decode(fixture.body, {})
  expect(event?.state).toBeNull()
  expect([paypal.snapshots, paypal.claims, paypal.object]).toEqual([undefined, undefined, undefined])
})

it('checks the form of secrets', () => {
  for (const good of ['9XL90610J3647323C', '8PT597110X687430LKGECATA', 'x'.repeat(50)])
    expect(paypal.checkSecret(good)).toBeNull()
  for (const bad of [
    '',
    'WEBHOOK_ID',
    'WH-1234567890',
    '9XL9061',
    'x'.repeat(51),
    '9XL90610J|647323C',
    ' 9XL90610J3647323C',
  ])
    expect(paypal.checkSecret(bad)).toMatch(/webhook ID/)
})

describe('an event', () => {
  const event = (fields: object) =>
    paypal.decode(
      JSON.stringify({ id: 'WH-1', event_type: 'X.Y', create_time: '2026-01-01T00:00:00Z', ...fields }),
      {},
    )[0]

  it.each([
    [
      'a subscription',
      {
        event_type: 'BILLING.SUBSCRIPTION.EXPIRED',
        resource_type: 'subscription',
        resource_version: '2.0',
        resource: { id: 'I-1', status: 'EXPIRED', plan_id: 'P-1', custom_id: 'u', subscriber: { payer_id: 'C' } },
      },
      {
        object: { type: 'subscription', id: 'I-1', status: 'EXPIRED' },
        subscription: 'I-1',
        customer: 'C',
        amount: null,
      },
      ['I-1', 'C', 'P-1', 'u'],
    ],
    [
      'an agreement of version 1',
      {
        event_type: 'BILLING.SUBSCRIPTION.CANCELLED',
        resource_type: 'Agreement',
        resource: { id: 'I-1', state: 'Cancelled', payer: { payer_info: { payer_id: 'C' } } },
      },
      { object: { type: 'Agreement', id: 'I-1', status: 'Cancelled' }, subscription: 'I-1', customer: 'C' },
      ['I-1', 'C'],
    ],
    [
      'a sale of a subscription',
      {
        event_type: 'PAYMENT.SALE.COMPLETED',
        resource_type: 'sale',
        resource: {
          id: '8',
          state: 'completed',
          amount: { total: '0.48', currency: 'USD' },
          billing_agreement_id: 'I-1',
          parent_payment: 'PAY-1',
          custom: 'u',
          invoice_number: 'n',
        },
      },
      {
        object: { type: 'sale', id: '8', status: 'completed' },
        subscription: 'I-1',
        amount: { value: 48, currency: 'USD' },
      },
      ['8', 'I-1', 'u', 'n', 'PAY-1'],
    ],
    [
      'an order',
      {
        resource: {
          id: '5O',
          status: 'APPROVED',
          payer: { payer_id: 'C' },
          purchase_units: [{ amount: { currency_code: 'JPY', value: '100' } }],
        },
      },
      { object: { type: null, id: '5O', status: 'APPROVED' }, customer: 'C', amount: { value: 100, currency: 'JPY' } },
      ['5O', 'C'],
    ],
    [
      'an order of several units',
      { resource: { id: '5O', purchase_units: [{ amount: { currency_code: 'USD', value: '1' } }, {}] } },
      { amount: null },
      ['5O'],
    ],
    [
      'a dispute',
      {
        resource: {
          dispute_id: 'PP-D-1',
          status: 'OPEN',
          dispute_amount: { currency_code: 'USD', value: '3.00' },
          disputed_transactions: [{ seller_transaction_id: '00D' }],
        },
      },
      { object: { type: null, id: 'PP-D-1', status: 'OPEN' }, amount: { value: 300, currency: 'USD' } },
      ['PP-D-1', '00D'],
    ],
    [
      'an account',
      { resource: { merchant_id: 'M', payer_id: 'C' } },
      { object: { id: null }, customer: 'C' },
      ['C', 'M'],
    ],
  ])('of %s', (_, fields, expected, refs) => {
    expect(event(fields)).toMatchObject({ ...expected, refs, vendor_event_id: 'WH-1' })
  })

  it('says which environment it is from by the host of the key', () => {
    const mode = (url?: string) =>
      paypal.decode('{"id":"e","event_type":"t","resource":{}}', url === undefined ? {} : { 'paypal-cert-url': url })[0]
        ?.livemode
    expect(['api.paypal.com', 'api-m.paypal.com'].map((host) => mode(addressOf('CERT-1', host)))).toEqual([true, true])
    expect(mode(ADDRESS)).toBe(false)
    expect(mode(addressOf('CERT-1', 'api-m.sandbox.paypal.com'))).toBe(false)
    expect([mode(), mode('https://evil.dev/'), mode('')]).toEqual([null, null, null])
  })

  it('keeps a time that cannot be, as in the examples of PayPal, out of search', () => {
    expect(event({ create_time: '2018-19-12T22:20:32.000Z', resource: {} })?.occurred_at).toBeNull()
  })
})
