import { describe, expect, it } from 'vitest'
import { apple } from '../../src/vendors/apple'
import { verifierOf } from '../../src/vendors/apple-verify'
import { type Chain, newChain, newKeys, notificationBody, signedText, x5cOf } from './apple-chain'
import {
  type Bytes,
  body,
  type Case,
  type Expected,
  type Fixture,
  mutations,
  now,
  rotation,
  type Signed,
  textOf,
  utf8,
  verify,
} from './harness'

const DAY = 86_400_000
const chain = await newChain()
/** Another chain, with a root of its own. */
const strange = await newChain()
const otherKeys = await newKeys('P-384')
const SANDBOX = 'com.example.app'
const LIVE = 'com.example.app:1234567890'

const transaction = (fields: object = {}) => ({ transactionId: '1', bundleId: SANDBOX, productId: 'pro', ...fields })
const payload = (secret: string, at: number, data: object = {}, rest: object = {}) => {
  const [bundleId, app] = secret.split(':')
  const environment = app === undefined ? 'Sandbox' : 'Production'
  return {
    notificationType: 'ONE_TIME_CHARGE',
    notificationUUID: '002e14d5-51f5-4503-b5a8-c3a1af68eb20',
    data: {
      environment,
      bundleId,
      ...(app && { appAppleId: Number(app) }),
      signedTransactionInfo: transaction({ bundleId }),
      ...data,
    },
    version: '2.0',
    signedDate: at,
    ...rest,
  }
}

type Notification = ReturnType<typeof payload>

const fixture: Fixture = {
  vendor: { ...apple, verify: verifierOf(chain.root) },
  secret: SANDBOX,
  other: 'com.example.other',
  body: '',
  sign: async (_, secret, at) => delivered(await notificationBody(payload(secret, at), chain)),
}
const delivered = (text: string): Signed => ({ headers: new Headers(), body: utf8(text) })

/** In place of the delivery, one that is signed otherwise. */
const signedOtherwise =
  (by: Chain, header: object = {}, what = payload(SANDBOX, now())) =>
  async () =>
    delivered(await notificationBody(what, by, header))
const ofChain = (options: Parameters<typeof newChain>[0]) => async () => {
  const made = await newChain(options)
  return { made, ...delivered(await notificationBody(payload(SANDBOX, now()), made)) }
}
const jws = (bytes: Bytes) => (JSON.parse(textOf(bytes)) as { signedPayload: string }).signedPayload
const parts = (change: (header: string, content: string, signature: string) => string) =>
  body((bytes) => {
    const [header = '', content = '', signature = ''] = jws(bytes).split('.')
    return utf8(JSON.stringify({ signedPayload: change(header, content, signature) }))
  })
const jsonOf = (part: string) => JSON.parse(textOf(Uint8Array.fromBase64(part, { alphabet: 'base64url' })))
const part = (value: unknown) => utf8(JSON.stringify(value)).toBase64({ alphabet: 'base64url', omitPadding: true })
const header = (fields: object) => parts((a, b, c) => `${part({ ...jsonOf(a), ...fields })}.${b}.${c}`)
const content = (change: (it: Notification) => object) => parts((a, b, c) => `${a}.${part(change(jsonOf(b)))}.${c}`)
const flipped = (text: string, at = text.length >> 1) =>
  text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
const [leaf = '', intermediate = '', root = ''] = x5cOf(chain)

const cases: Case[] = [
  { name: 'as signed', expected: 'accepted' },
  { name: 'with spaces around the JSON', expected: 'accepted', change: body((it) => utf8(` ${textOf(it)}\n`)) },
  { name: 'three days late, as a repetition', expected: 'accepted', late: 3 * DAY },
  { name: 'five minutes early', expected: 'accepted', late: -300_000 },
  { name: 'more than five minutes early', expected: 'signature_timestamp', late: -300_001 },
  { name: 'after the certificates', expected: 'signature_timestamp', late: 40 * 365 * DAY },
  { name: 'no body', expected: 'signature_missing', change: body(() => utf8('')) },
  { name: 'no JSON', expected: 'signature_missing', change: body(() => utf8('{')) },
  { name: 'bytes that are no text', expected: 'signature_malformed', change: body(() => Uint8Array.of(0xff, 0xfe)) },
  { name: 'no signedPayload', expected: 'signature_missing', change: body(() => utf8('{"signedpayload":"a.b.c"}')) },
  {
    name: 'a signedPayload that is an object',
    expected: 'signature_missing',
    change: body(() => utf8('{"signedPayload":{}}')),
  },
  { name: 'without a signature', expected: 'signature_malformed', change: parts((a, b) => `${a}.${b}`) },
  { name: 'with an empty signature', expected: 'signature_malformed', change: parts((a, b) => `${a}.${b}.`) },
  { name: 'with a fourth part', expected: 'signature_malformed', change: parts((a, b, c) => `${a}.${b}.${c}.`) },
  {
    name: 'the signature cut',
    expected: 'signature_malformed',
    change: parts((a, b, c) => `${a}.${b}.${c.slice(0, -4)}`),
  },
  {
    name: 'the signature changed',
    expected: 'signature_mismatch',
    change: parts((a, b, c) => `${a}.${b}.${flipped(c)}`),
  },
  {
    name: 'a signature of zeros',
    expected: 'signature_mismatch',
    change: parts((a, b) => `${a}.${b}.${'A'.repeat(86)}`),
  },
  { name: 'the signature padded', expected: 'signature_malformed', change: parts((a, b, c) => `${a}.${b}.${c}==`) },
  {
    name: 'the type changed',
    expected: 'signature_mismatch',
    change: content((it) => ({ ...it, notificationType: 'REFUND' })),
  },
  {
    name: 'the time changed',
    expected: 'signature_mismatch',
    change: content((it) => ({ ...it, signedDate: it.signedDate - 1 })),
  },
  {
    name: 'the transaction inside changed',
    expected: 'signature_mismatch',
    change: async (it) => {
      const other = await signedText(transaction({ productId: 'enterprise' }), chain)
      return content((it) => ({ ...it, data: { ...it.data, signedTransactionInfo: other } }))(it)
    },
  },
  {
    name: 'the payload no JSON',
    expected: 'signature_malformed',
    change: parts((a, _, c) => `${a}.${btoa('{')}.${c}`),
  },
  { name: 'alg none', expected: 'signature_malformed', change: header({ alg: 'none' }) },
  {
    name: 'alg none, without a signature',
    expected: 'signature_malformed',
    change: parts((a, b) => `${part({ ...jsonOf(a), alg: 'none' })}.${b}.`),
  },
  { name: 'alg HS256', expected: 'signature_malformed', change: header({ alg: 'HS256' }) },
  { name: 'alg ES384', expected: 'signature_malformed', change: signedOtherwise(chain, { alg: 'ES384' }) },
  {
    name: 'a critical extension',
    expected: 'signature_malformed',
    change: signedOtherwise(chain, { crit: ['b64'], b64: false }),
  },
  { name: 'no x5c', expected: 'signature_malformed', change: header({ x5c: undefined }) },
  { name: 'a chain of one', expected: 'signature_malformed', change: signedOtherwise(chain, { x5c: [leaf] }) },
  { name: 'a chain of two', expected: 'signature_malformed', change: signedOtherwise(chain, { x5c: [leaf, root] }) },
  {
    name: 'a chain of four',
    expected: 'signature_malformed',
    change: signedOtherwise(chain, { x5c: [leaf, intermediate, intermediate, root] }),
  },
  {
    name: 'a chain of texts that are no base64',
    expected: 'signature_malformed',
    change: signedOtherwise(chain, { x5c: ['-', '-', '-'] }),
  },
  {
    name: 'spaces in a certificate',
    expected: 'signature_malformed',
    change: signedOtherwise(chain, { x5c: [` ${leaf}`, intermediate, root] }),
  },
  {
    name: 'a key beside the chain',
    expected: 'signature_mismatch',
    change: signedOtherwise(strange, { x5c: x5cOf(chain), jwk: {} }),
  },
  {
    name: 'a header of 20,000 characters',
    expected: 'signature_malformed',
    change: signedOtherwise(chain, { kid: 'k'.repeat(15_000) }),
  },
  {
    name: 'another root with all that belongs to it',
    expected: 'signature_mismatch',
    change: signedOtherwise(strange),
  },
  {
    name: "another root's chain, and this root",
    expected: 'signature_mismatch',
    change: signedOtherwise(strange, { x5c: [...x5cOf(strange).slice(0, 2), root] }),
  },
  {
    name: 'the leaf of another chain',
    expected: 'signature_mismatch',
    change: signedOtherwise(strange, { x5c: [x5cOf(strange)[0], intermediate, root] }),
  },
  {
    name: 'the leaf exchanged for the intermediate',
    expected: 'signature_mismatch',
    change: signedOtherwise(chain, { x5c: [intermediate, leaf, root] }),
  },
  {
    name: 'the root three times',
    expected: 'signature_mismatch',
    change: signedOtherwise(chain, { x5c: [root, root, root] }),
  },
  {
    name: 'a bit of the leaf changed',
    expected: 'signature_mismatch',
    change: signedOtherwise(chain, { x5c: [flipped(leaf, 300), intermediate, root] }),
  },
  {
    name: 'a bit of the intermediate changed',
    expected: 'signature_mismatch',
    change: signedOtherwise(chain, { x5c: [leaf, flipped(intermediate, 300), root] }),
  },
  {
    name: 'the leaf cut',
    expected: 'signature_mismatch',
    change: signedOtherwise(chain, { x5c: [leaf.slice(0, 100), intermediate, root] }),
  },
  {
    name: 'no time',
    expected: 'signature_malformed',
    change: signedOtherwise(chain, {}, payload(SANDBOX, Number.NaN)),
  },
  { name: 'another app', expected: 'signature_mismatch', secrets: ['com.example.other'] },
  { name: 'an app whose name begins the same', expected: 'signature_mismatch', secrets: ['com.example'] },
  { name: 'the live app of the same name', expected: 'signature_mismatch', secrets: [LIVE] },
  { name: 'no live secret', expected: 'signature_mismatch', secrets: [] },
  { name: 'an empty secret', expected: 'signature_mismatch', secrets: [''] },
  { name: 'the secret third of three', expected: 'accepted', secrets: ['', LIVE, SANDBOX] },
  { name: 'live', expected: 'accepted', secrets: [LIVE], change: signedOtherwise(chain, {}, payload(LIVE, now())) },
  {
    name: 'live, for the sandbox',
    expected: 'signature_mismatch',
    change: signedOtherwise(chain, {}, payload(LIVE, now())),
  },
  {
    name: 'live, of another app',
    expected: 'signature_mismatch',
    secrets: [LIVE],
    change: signedOtherwise(chain, {}, payload(`${SANDBOX}:1`, now())),
  },
  {
    name: 'live, without the number of the app',
    expected: 'signature_mismatch',
    secrets: [LIVE, SANDBOX, `${SANDBOX}:null`],
    change: signedOtherwise(chain, {}, payload(LIVE, now(), { appAppleId: undefined })),
  },
  {
    name: 'without an environment',
    expected: 'signature_mismatch',
    secrets: [LIVE, SANDBOX],
    change: signedOtherwise(chain, {}, payload(SANDBOX, now(), { environment: undefined })),
  },
  {
    name: 'a bundle ID that is no text',
    expected: 'signature_mismatch',
    change: signedOtherwise(chain, {}, payload(SANDBOX, now(), { bundleId: { toString: 1 } })),
  },
  {
    name: 'a summary',
    expected: 'accepted',
    change: signedOtherwise(chain, {}, {
      ...payload(SANDBOX, now()),
      data: undefined,
      summary: { environment: 'Sandbox', bundleId: SANDBOX },
    } as never),
  },
  {
    name: 'a token of an external purchase',
    expected: 'accepted',
    secrets: [LIVE],
    change: signedOtherwise(chain, {}, {
      ...payload(SANDBOX, now()),
      data: undefined,
      externalPurchaseToken: { externalPurchaseId: 'b2158121', appAppleId: 1234567890, bundleId: SANDBOX },
    } as never),
  },
]
mutations('apple', fixture, cases)
rotation('apple', fixture)

describe('a chain under the trusted root', () => {
  it.each<[string, Parameters<typeof newChain>[0], Expected]>([
    ['as made', {}, 'accepted'],
    ['of keys on P-256 and SHA-256', { authorityCurve: 'P-256', hash: 'SHA-256' }, 'accepted'],
    ['of keys on P-384 and SHA-256', { hash: 'SHA-256' }, 'accepted'],
    ['without the mark of the leaf', { leafMark: null }, 'signature_mismatch'],
    ['with another mark of the leaf', { leafMark: '1.2.840.113635.100.6.11.2' }, 'signature_mismatch'],
    ['without the mark of the intermediate', { intermediateMark: null }, 'signature_mismatch'],
    ['with a leaf that is an authority', { leafIsAuthority: true }, 'signature_mismatch'],
    ['with an intermediate that is none', { intermediateIsAuthority: false }, 'signature_mismatch'],
    ['with a leaf of another issuer', { leafIssuer: 'Test Root' }, 'signature_mismatch'],
    ['with an intermediate of another issuer', { intermediateIssuer: 'Test Relations' }, 'signature_mismatch'],
    ['with a leaf that another key signed', { leafSignedBy: otherKeys.privateKey }, 'signature_mismatch'],
    [
      'with an intermediate that another key signed',
      { intermediateSignedBy: otherKeys.privateKey },
      'signature_mismatch',
    ],
    ['with a leaf on P-384', { leafCurve: 'P-384' }, 'signature_malformed'],
    ['with a leaf that is over', { leafUntil: new Date(Date.now() - DAY) }, 'signature_timestamp'],
    ['with a leaf that has not begun', { leafFrom: new Date(Date.now() + DAY) }, 'signature_timestamp'],
  ])('%s', async (_, options, expected) => {
    const { made, body } = await ofChain(options)()
    const delivery = { headers: new Headers(), bytes: body, url: '', now: Date.now() }
    const verdict = await verifierOf(made.root)(delivery, [SANDBOX])
    expect(verdict.ok ? 'accepted' : verdict.cause).toBe(expected)
  })

  it('is known by one whole delivery, and no other delivery profits from that', async () => {
    const check = verifierOf(chain.root)
    const send = (text: string) =>
      check({ headers: new Headers(), bytes: utf8(text), url: '', now: Date.now() }, [SANDBOX])
    const good = await notificationBody(payload(SANDBOX, Date.now()), chain)
    for (const text of [good, good]) expect(await send(text)).toEqual({ ok: true, secret: 0 })
    for (const x5c of [[leaf, intermediate, x5cOf(strange)[2]], x5cOf(strange)])
      expect(await send(await notificationBody(payload(SANDBOX, Date.now()), strange, { x5c }))).toMatchObject({
        ok: false,
      })
    expect(
      await send(await notificationBody(payload(SANDBOX, Date.now()), strange, { x5c: x5cOf(chain) })),
    ).toMatchObject({
      ok: false,
    })
  })

  it('ends while it is remembered', async () => {
    const until = Math.ceil(Date.now() / 1000) * 1000 + 60_000
    const made = await newChain({ leafUntil: new Date(until) })
    const check = verifierOf(made.root)
    const bytes = utf8(await notificationBody(payload(SANDBOX, Date.now()), made))
    const at = (now: number) => check({ headers: new Headers(), bytes, url: '', now }, [SANDBOX])
    expect(await at(until)).toEqual({ ok: true, secret: 0 })
    expect(await at(until + 1)).toMatchObject({ ok: false, cause: 'signature_timestamp' })
  })

  it('costs little', async () => {
    const times = async (count: number, check: () => ReturnType<typeof verifierOf>) => {
      const bytes = utf8(await notificationBody(payload(SANDBOX, Date.now()), chain))
      const begun = performance.now()
      for (let i = 0; i < count; i++)
        expect(await check()({ headers: new Headers(), bytes, url: '', now: Date.now() }, [SANDBOX])).toMatchObject({
          ok: true,
        })
      return ((performance.now() - begun) / count).toFixed(2)
    }
    const check = verifierOf(chain.root)
    const [fresh, known] = [await times(200, () => verifierOf(chain.root)), await times(200, () => check)]
    console.log(`a delivery takes ${fresh} ms with a new chain, and ${known} ms with a known one`)
  })
})

it('checks the form of secrets', () => {
  for (const good of [SANDBOX, LIVE, 'com.Abilities', 'a.b', 'com.my-app.Test2:1'])
    expect(apple.checkSecret(good)).toBeNull()
  for (const bad of [
    '',
    'app',
    'com.example.',
    '.com',
    'com..app',
    'com.exa mple',
    'com.example:',
    'com.example:0',
    'com.example:x',
    'com.example:1:2',
    `com.${'a'.repeat(200)}`,
  ])
    expect(apple.checkSecret(bad)).toMatch(/bundle ID/)
})

it("trusts Apple's root alone, if nobody says otherwise", async () => {
  const at = now()
  expect(await verify({ ...fixture, vendor: apple }, await fixture.sign(utf8(''), SANDBOX, at), at)).toEqual({
    ok: false,
    cause: 'signature_mismatch',
  })
})
