import { createPrivateKey, sign as nodeSign } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { polar } from '../../src/vendors/polar'
import { standard } from '../../src/vendors/standard'
import {
  bodyCases,
  type Case,
  decodeOne,
  type Fixture,
  header,
  headerCases,
  mutations,
  now,
  rotation,
  type Signed,
  TIME_CASES,
  textOf,
  twice,
  utf8,
  verify,
} from './harness'

const H = 'webhook-signature'
const ID = 'webhook-id'
const TS = 'webhook-timestamp'
const base64 = (text: string) => utf8(text).toBase64()

const wrong = `v1,${new Uint8Array(32).toBase64()}`
const event = { type: 'invoice.paid', timestamp: '2026-03-04T05:06:07.123456Z', data: { id: 'inv_1', name: 'Zoë ✓' } }

/** The reference library signs, and says what it accepts; `library` makes it of a secret as the vendor would. */
const fixtureOf = (
  vendor: Fixture['vendor'],
  secret: string,
  other: string,
  library: (secret: string) => Webhook,
): Fixture => ({
  vendor,
  secret,
  other,
  body: JSON.stringify(event),
  sign: (body, secret, at) => ({
    body,
    headers: new Headers({
      [ID]: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
      [TS]: String(at / 1000),
      [H]: library(secret).sign('msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', new Date(at), textOf(body)),
    }),
  }),
  sdk: ({ headers, body }, secret) => {
    try {
      library(secret).verify(textOf(body), Object.fromEntries(headers), { jsonParse: false })
      return true
    } catch {
      return false
    }
  },
})

const cases = (fixture: Fixture): Case[] => [
  ...headerCases(fixture, H, 'base64'),
  ...bodyCases('signature_mismatch'),
  ...TIME_CASES,
  { name: 'the id changed', expected: 'signature_mismatch', change: header(ID, 'msg_other') },
  { name: 'the id missing', expected: 'signature_malformed', change: header(ID, null) },
  { name: 'the id twice', expected: 'signature_mismatch', change: twice(ID) },
  {
    name: 'a full stop moved from between id and time into the id',
    expected: 'signature_malformed',
    change: header(ID, (v) => `${v}.1`),
  },
  { name: 'the time changed', expected: 'signature_mismatch', change: header(TS, (v) => String(Number(v) + 1)) },
  { name: 'the time missing', expected: 'signature_malformed', change: header(TS, null) },
  { name: 'the time a word', expected: 'signature_malformed', change: header(TS, 'now') },
  {
    name: 'the time twice',
    expected: 'signature_malformed',
    change: twice(TS),
    sdkDiffers: 'it reads the number that the text begins with',
  },
  {
    name: 'the time with a zero before it',
    expected: 'signature_mismatch',
    change: header(TS, (v) => `0${v}`),
    sdkDiffers: 'it signs the number, not the text',
  },
  { name: 'a wrong signature first', expected: 'accepted', change: header(H, (v) => `${wrong} ${v}`) },
  { name: 'a wrong signature last', expected: 'accepted', change: header(H, (v) => `${v} ${wrong}`) },
  { name: 'an unknown version beside it', expected: 'accepted', change: header(H, (v) => `v2,AAAA ${v}`) },
  {
    name: 'only an unknown version',
    expected: 'signature_malformed',
    change: header(H, (v) => v.replace('v1,', 'v2,')),
  },
  { name: 'no version', expected: 'signature_malformed', change: header(H, (v) => v.replace('v1,', '')) },
  {
    name: 'an equals sign for the comma',
    expected: 'signature_malformed',
    change: header(H, (v) => v.replace('v1,', 'v1=')),
  },
  { name: 'the header twice', expected: 'accepted', change: twice(H) },
  {
    name: 'seventeen signatures',
    expected: 'signature_malformed',
    change: header(H, (v) => `${v}${` ${wrong}`.repeat(16)}`),
    sdkDiffers: 'it tries any number',
  },
]

const fixture = fixtureOf(
  standard,
  `whsec_${base64('a secret of 24 bytes, 01')}`,
  `whsec_${base64('a secret of 24 bytes, 02')}`,
  (secret) => new Webhook(secret),
)
// Svix, and who uses it, sends the same under names of its own.
const renamed = ({ headers, body }: Signed, from: string, to: string): Signed => ({
  body,
  headers: new Headers([...headers].map(([name, value]) => [name.replace(from, to), value])),
})
/** A case of the usual names, under Svix's. */
const underSvix = (it: Case): Case => ({
  ...it,
  change: async (signed) =>
    renamed((await it.change?.(renamed(signed, 'svix-', 'webhook-'))) ?? signed, 'webhook-', 'svix-'),
})
const svix: Fixture = {
  ...fixture,
  sign: async (...args) => renamed(await fixture.sign(...args), 'webhook-', 'svix-'),
  sdk: (signed, ...rest) => fixture.sdk?.(renamed(signed, 'svix-', 'webhook-'), ...rest) ?? false,
}
mutations('standard, with the names of Svix', svix, [...cases(fixture).map(underSvix)])

mutations('standard', fixture, [
  ...cases(fixture),
  {
    name: 'the secret without its prefix',
    expected: 'signature_mismatch',
    secrets: [fixture.secret.slice(6)],
    sdkDiffers: 'it takes the prefix off where there is one',
  },
  { name: 'a prefix and nothing after it', expected: 'signature_mismatch', secrets: ['whsec_'] },
])

// Polar, older secrets: its SDK hands the library the base64 of the whole secret's UTF-8.
const older = fixtureOf(
  polar,
  'polar_whs_kd83ndKJsdfh3kjd',
  'polar_whs_93jdnHsdhd84ndkd',
  (secret) => new Webhook(base64(secret)),
)
mutations('polar, a secret of before September 2026', older, cases(older))
// Polar, newer secrets: as the standard says.
const newer = fixtureOf(polar, fixture.secret, fixture.other, (secret) => new Webhook(secret))
mutations('polar, a newer secret', newer, cases(newer))

describe('standard, asymmetric (v1a): by the specification, Node signs', async () => {
  const { publicKey, privateKey } = (await crypto.subtle.generateKey({ name: 'Ed25519' }, true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair
  const whpk = `whpk_${new Uint8Array((await crypto.subtle.exportKey('raw', publicKey)) as ArrayBuffer).toBase64()}`
  const pkcs8 = new Uint8Array((await crypto.subtle.exportKey('pkcs8', privateKey)) as ArrayBuffer)
  const nodeKey = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
  const asymmetric: Fixture = {
    vendor: standard,
    secret: whpk,
    other: `whpk_${new Uint8Array(32).fill(7).toBase64()}`,
    body: fixture.body,
    sign: (body, _, at) => ({
      body,
      headers: new Headers({
        [ID]: 'msg_1',
        [TS]: String(at / 1000),
        [H]: `v1a,${nodeSign(null, Buffer.from(`msg_1.${at / 1000}.${textOf(body)}`), nodeKey).toString('base64')}`,
      }),
    }),
  }
  mutations('ed25519', asymmetric, [
    { name: 'as signed', expected: 'accepted' },
    ...bodyCases('signature_mismatch'),
    ...TIME_CASES,
    { name: 'another public key', expected: 'signature_mismatch', secrets: [asymmetric.other] },
    { name: 'a whsec_ secret', expected: 'signature_mismatch', secrets: [fixture.secret] },
    {
      name: 'a whpk_ of 31 bytes',
      expected: 'signature_mismatch',
      secrets: [`whpk_${new Uint8Array(31).fill(7).toBase64()}`],
    },
    { name: 'a whsec_ and the public key', expected: 'accepted', secrets: [fixture.secret, whpk] },
    { name: 'the id changed', expected: 'signature_mismatch', change: header(ID, 'msg_2') },
    { name: 'the time changed', expected: 'signature_mismatch', change: header(TS, (v) => String(Number(v) - 1)) },
    {
      name: 'the signature named v1',
      expected: 'signature_malformed',
      change: header(H, (v) => v.replace('v1a', 'v1')),
    },
    { name: 'a v1 beside it', expected: 'accepted', change: header(H, (v) => `${wrong} ${v}`) },
    { name: 'the signature cut', expected: 'signature_malformed', change: header(H, (v) => v.slice(0, -4)) },
  ])

  it('never uses a public key as the key of an HMAC', async () => {
    const at = now()
    // An attacker who knows the public key can make this.
    const forged = await fixture.sign(utf8(fixture.body), `whsec_${whpk.slice(5)}`, at)
    expect(await verify(asymmetric, forged, at, [whpk])).toEqual({ ok: false, cause: 'signature_mismatch' })
    expect(await verify(asymmetric, forged, at, [`whsec_${whpk.slice(5)}`])).toEqual({ ok: true, secret: 0 })
  })
})

describe('standard and polar: decode', () => {
  rotation('standard', fixture)
  rotation('svix', svix)
  rotation('polar', older)

  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': '1751000000' }

  it('takes the id from the header, the rest from the payload', () => {
    expect(
      decodeOne(
        standard,
        {
          ...event,
          data: {
            id: 'inv_1',
            object: 'invoice',
            status: 'paid',
            customer: { id: 'c_1' },
            subscription_id: 's_1',
            total: 5,
            currency: 'usd',
          },
        },
        headers,
      ),
    ).toEqual({
      vendor_event_id: 'msg_1',
      event_type: 'invoice.paid',
      occurred_at: '2026-03-04T05:06:07.123456Z',
      livemode: null,
      api_version: null,
      object: { type: 'invoice', id: 'inv_1', status: 'paid' },
      customer: 'c_1',
      subscription: 's_1',
      invoice: 'inv_1',
      amount: null,
      refs: ['inv_1', 'c_1', 's_1'],
      state: null,
      content: expect.objectContaining({ type: 'invoice.paid', timestamp: '2026-03-04T05:06:07.123456Z' }),
    })
  })

  it.each([
    ['another id', header(ID, 'msg_other'), 'signature_malformed'],
    ['another time', header(TS, '1'), 'signature_malformed'],
    ['the same id', (signed: Signed) => header(ID, signed.headers.get('svix-id'))(signed), 'accepted'],
    ['another signature', header(H, wrong), 'signature_mismatch'],
  ] as const)('%s under the usual name beside those of Svix', async (_, change, expected) => {
    const at = now()
    const verdict = await verify(svix, change(await svix.sign(utf8(svix.body), svix.secret, at)), at)
    expect(verdict.ok ? 'accepted' : verdict.cause).toBe(expected)
  })

  it('takes id and time from the headers of Svix', () => {
    const svixHeaders = { 'svix-id': 'msg_2', 'svix-timestamp': '1751000000' }
    expect(decodeOne(standard, { type: 'user.created', data: {} }, svixHeaders)).toMatchObject({
      vendor_event_id: 'msg_2',
      occurred_at: '2025-06-27T04:53:20Z',
    })
    expect(standard.keptHeaders).toEqual(expect.arrayContaining(Object.keys(svixHeaders)))
    // Polar does not send them, so nobody can put an id into them.
    expect(decodeOne(polar, { type: 'order.paid', data: {} }, svixHeaders).vendor_event_id).toBeNull()
  })

  it('reads data at the top level, and the attempt’s time where there is no other', () => {
    expect(decodeOne(standard, { type: 'contact.created', id: 'con_1' }, headers)).toMatchObject({
      occurred_at: '2025-06-27T04:53:20Z',
      object: { type: 'contact', id: 'con_1', status: null },
      refs: ['con_1'],
    })
    expect(decodeOne(standard, { type: 'contact.created' }, {})).toMatchObject({
      vendor_event_id: null,
      occurred_at: null,
    })
  })

  it('polar: an order in cents, its version, its links', () => {
    const data = {
      id: 'o-1',
      status: 'paid',
      customer_id: 'c-1',
      subscription_id: 's-1',
      product_id: 'p-1',
      checkout_id: null,
      total_amount: 1250,
      currency: 'usd',
    }
    expect(
      decodeOne(
        polar,
        { type: 'order.paid', timestamp: '2026-01-02T03:04:05.6+02:00', data },
        { ...headers, 'webhook-api-version': '2026-04' },
      ),
    ).toEqual({
      vendor_event_id: 'msg_1',
      event_type: 'order.paid',
      occurred_at: '2026-01-02T01:04:05.6Z',
      livemode: null,
      api_version: '2026-04',
      object: { type: 'order', id: 'o-1', status: 'paid' },
      customer: 'c-1',
      subscription: 's-1',
      invoice: 'o-1',
      amount: { value: 1250, currency: 'USD' },
      refs: ['o-1', 'c-1', 's-1', 'p-1'],
      state: 'invoice',
      content: { type: 'order.paid', timestamp: '2026-01-02T03:04:05.6+02:00', data },
    })
    for (const currency of ['jpy', 'kwd', null]) {
      expect(decodeOne(polar, { type: 'order.paid', data: { ...data, currency } }, headers).amount).toBeNull()
    }
  })

  it('checks the form of secrets', () => {
    expect(standard.checkSecret(fixture.secret)).toBeNull()
    expect(standard.checkSecret(`whpk_${new Uint8Array(32).fill(7).toBase64()}`)).toBeNull()
    expect(standard.checkSecret('whsk_c2VjcmV0')).toMatch(/private key/)
    expect(standard.checkSecret('whpk_c2VjcmV0')).toMatch(/32 bytes/)
    for (const bad of ['', 'whsec_', 'whsec_?', fixture.secret.slice(6)])
      expect(standard.checkSecret(bad)).toMatch(/whsec_/)
    expect(polar.checkSecret(older.secret)).toBeNull()
    expect(polar.checkSecret(newer.secret)).toBeNull()
    expect(polar.checkSecret('with a space')).toMatch(/Polar/)
  })
})
