import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { SignatureCause, Vendor } from '../../src/vendors/vendor'

export type Bytes = Uint8Array<ArrayBuffer>
export type Signed = { headers: Headers; body: Bytes }
export type Expected = 'accepted' | SignatureCause

/** One change of a signed delivery, and the expected verdict. */
export type Case = {
  name: string
  expected: Expected
  change?: (signed: Signed) => Signed | Promise<Signed>
  /** Instead of the one live secret. */
  secrets?: string[]
  /** Milliseconds between the signature and its arrival. */
  late?: number
  url?: string
  /** Why the verdict of the vendor's own SDK differs. */
  sdkDiffers?: string
}

export type Fixture = {
  vendor: Vendor
  secret: string
  other: string
  body: string
  sign: (body: Bytes, secret: string, now: number) => Signed | Promise<Signed>
  /** Whether the vendor's own SDK accepts a delivery. Asked wherever the SDK can answer. */
  sdk?: (signed: Signed, secret: string, url: string) => boolean | Promise<boolean>
}

export const URL_ = 'https://hooks.example.com/ingest/con_1'

const encoder = new TextEncoder()
export const utf8 = (text: string) => encoder.encode(text) as Bytes
export const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes)

/** Node's HMAC: not the implementation under test. */
export function mac(
  hash: 'sha256' | 'sha1',
  key: string | Uint8Array,
  encoding: 'hex' | 'base64',
  ...parts: (string | Uint8Array)[]
) {
  const hmac = createHmac(hash, key)
  for (const part of parts) hmac.update(part)
  return hmac.digest(encoding)
}

/** Now, in whole seconds: SDKs read the clock themselves. */
export const now = () => Math.floor(Date.now() / 1000) * 1000

export async function verify(fixture: Fixture, signed: Signed, at: number, secrets = [fixture.secret], url = URL_) {
  return fixture.vendor.verify({ headers: signed.headers, bytes: signed.body, url, now: at }, secrets)
}

/** A test for each case: our verdict, and that of the SDK where there is one. */
export function mutations(name: string, fixture: Fixture, cases: Case[]) {
  describe(`${name}: mutations`, () => {
    it.each(cases)('$name → $expected', async ({ expected, change, secrets, late = 0, url, sdkDiffers }) => {
      const at = now()
      const original = await fixture.sign(utf8(fixture.body), fixture.secret, at)
      const signed = change ? await change(original) : original
      const verdict = await verify(fixture, signed, at + late, secrets, url)
      expect(verdict.ok ? 'accepted' : verdict.cause).toBe(expected)
      if (expected === 'signature_timestamp') expect(verdict).toMatchObject({ skew_ms: late })
      if (!fixture.sdk || late !== 0 || (secrets && secrets.length !== 1)) return
      const accepted = await fixture.sdk(signed, secrets?.[0] ?? fixture.secret, url ?? URL_)
      expect(accepted).toBe((expected === 'accepted') !== Boolean(sdkDiffers))
    })
    it('are 20 or more', () => expect(cases.length).toBeGreaterThanOrEqual(20))
  })
}

/** The old and the new secret both verify while both are live; the old one no longer does once it is removed. */
export function rotation(name: string, fixture: Fixture) {
  it(`${name}: a secret is rotated without a gap, and the old one ends`, async () => {
    const at = now()
    const old = await fixture.sign(utf8(fixture.body), fixture.secret, at)
    const next = await fixture.sign(utf8(fixture.body), fixture.other, at)
    const both = [fixture.secret, fixture.other]
    expect(await verify(fixture, old, at, both)).toEqual({ ok: true, secret: 0 })
    expect(await verify(fixture, next, at, both)).toEqual({ ok: true, secret: 1 })
    expect(await verify(fixture, next, at, [fixture.other])).toEqual({ ok: true, secret: 0 })
    expect(await verify(fixture, old, at, [fixture.other])).toEqual({ ok: false, cause: 'signature_mismatch' })
    expect(await verify(fixture, next, at, [fixture.secret])).toEqual({ ok: false, cause: 'signature_mismatch' })
    // A dead secret beside live ones neither verifies nor affects them.
    expect(await verify(fixture, next, at, ['', fixture.other])).toEqual({ ok: true, secret: 1 })
  })
}

/** Sets (or, with null, removes) one header. */
export const header =
  (name: string, value: string | null | ((value: string) => string)) =>
  (signed: Signed): Signed => {
    const headers = new Headers(signed.headers)
    if (value === null) headers.delete(name)
    else headers.set(name, typeof value === 'string' ? value : value(headers.get(name) ?? ''))
    return { ...signed, headers }
  }

/** Sends one header twice. */
export const twice =
  (name: string) =>
  (signed: Signed): Signed => {
    const headers = new Headers(signed.headers)
    headers.append(name, headers.get(name) ?? '')
    return { ...signed, headers }
  }

export const body =
  (change: (bytes: Bytes) => Uint8Array) =>
  (signed: Signed): Signed => ({
    ...signed,
    body: new Uint8Array(change(signed.body)),
  })

/** Changes of the body, each of which a signature over the bytes must detect. */
export function bodyCases(expected: Expected, overrides: Record<string, Partial<Case>> = {}): Case[] {
  const changes: Record<string, (bytes: Bytes) => Uint8Array> = {
    'a bit of the body flipped': (bytes) => bytes.map((byte, i) => (i === bytes.length >> 1 ? byte ^ 1 : byte)),
    'the first byte gone': (bytes) => bytes.subarray(1),
    'the last byte gone': (bytes) => bytes.subarray(0, -1),
    'a byte added': (bytes) => Uint8Array.of(...bytes, 0x7d),
    'a NUL added': (bytes) => Uint8Array.of(...bytes, 0),
    'a space before the body': (bytes) => Uint8Array.of(0x20, ...bytes),
    'a line feed after the body': (bytes) => Uint8Array.of(...bytes, 0x0a),
    'a byte order mark before the body': (bytes) => Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes),
    'the body in UTF-16': (bytes) => new Uint8Array(Uint16Array.from(textOf(bytes), (c) => c.charCodeAt(0)).buffer),
    'the body serialized anew': (bytes) => utf8(JSON.stringify(JSON.parse(textOf(bytes)), null, 2)),
    'no body': () => new Uint8Array(),
    'another body': () => utf8('{}'),
  }
  return Object.entries(changes).map(([name, change]) => ({
    name,
    expected,
    change: body(change),
    ...overrides[name],
  }))
}

type Encoding = 'hex' | 'base64' | 'base64url'
/** Characters of 32 bytes. */
const LENGTHS: Record<Encoding, number> = { hex: 64, base64: 44, base64url: 43 }

/** Changes of the secret, and of a header that ends in its signature. */
export function headerCases(
  fixture: Fixture,
  name: string,
  encoding: Encoding,
  overrides: Record<string, Partial<Case>> = {},
): Case[] {
  const length = LENGTHS[encoding]
  const signature = (change: (signature: string) => string) =>
    header(name, (value) => value.slice(0, -length) + change(value.slice(-length)))
  const flip = (text: string) => (text[0] === '0' ? '1' : '0') + text.slice(1)
  const cases: Case[] = [
    { name: 'as signed', expected: 'accepted' },
    { name: 'the header missing', expected: 'signature_missing', change: header(name, null) },
    { name: 'the header empty', expected: 'signature_missing', change: header(name, '') },
    { name: 'the header a word', expected: 'signature_malformed', change: header(name, 'signed') },
    {
      name: 'the header of another vendor in its place',
      expected: 'signature_missing',
      change: (signed) => header('x-other-signature', signed.headers.get(name) ?? '')(header(name, null)(signed)),
    },
    {
      name: 'the signature cut by a byte',
      expected: 'signature_malformed',
      change: signature((it) => it.slice(0, -4)),
    },
    { name: 'the signature longer by a byte', expected: 'signature_malformed', change: signature((it) => `${it}AAAA`) },
    { name: 'no signature in the header', expected: 'signature_malformed', change: signature(() => '') },
    { name: 'the first digit of the signature changed', expected: 'signature_mismatch', change: signature(flip) },
    {
      name: 'the signature in the other encoding',
      expected: 'signature_malformed',
      change: signature((it) =>
        encoding === 'hex'
          ? Uint8Array.fromHex(it).toBase64()
          : Uint8Array.fromBase64(it, { alphabet: encoding }).toHex(),
      ),
    },
    { name: 'a signature of zeros', expected: 'signature_mismatch', change: signature((it) => zeros(it, encoding)) },
    {
      name: 'the signature in upper case',
      expected: encoding === 'hex' ? 'accepted' : 'signature_mismatch',
      // Base64 except its end: the unused bits there must stay zero.
      change: signature((it) => (encoding === 'hex' ? it.toUpperCase() : it.slice(0, 40).toUpperCase() + it.slice(40))),
    },
    { name: 'spaces around the header', expected: 'accepted', change: header(name, (value) => `  ${value} `) },
    { name: 'another secret', expected: 'signature_mismatch', secrets: [fixture.other] },
    { name: 'no live secret', expected: 'signature_mismatch', secrets: [] },
    { name: 'an empty secret', expected: 'signature_mismatch', secrets: [''] },
    {
      name: 'a secret cut by its last character',
      expected: 'signature_mismatch',
      secrets: [fixture.secret.slice(0, -1)],
    },
    { name: 'the secret third of three', expected: 'accepted', secrets: ['', fixture.other, fixture.secret] },
  ]
  return cases.map((it) => ({ ...it, ...overrides[it.name] }))
}

/** Deliveries that arrive late or early. Changing the time itself is a case for the vendor’s own table. */
export const TIME_CASES: Case[] = [
  { name: '300 s late', expected: 'accepted', late: 300_000 },
  { name: '300.001 s late', expected: 'signature_timestamp', late: 300_001 },
  { name: 'a day late', expected: 'signature_timestamp', late: 86_400_000 },
  { name: '300 s early', expected: 'accepted', late: -300_000 },
  { name: '300.001 s early', expected: 'signature_timestamp', late: -300_001 },
  { name: 'a day early', expected: 'signature_timestamp', late: -86_400_000 },
]

const zeros = (signature: string, encoding: Encoding) =>
  encoding === 'hex'
    ? '0'.repeat(signature.length)
    : new Uint8Array(32).toBase64({ alphabet: encoding, omitPadding: encoding === 'base64url' })

/** The one event of a payload. */
export function decodeOne(vendor: Vendor, payload: unknown, headers: Record<string, string> = {}) {
  const events = vendor.decode(typeof payload === 'string' ? payload : JSON.stringify(payload), headers)
  expect(events).toHaveLength(1)
  // biome-ignore lint/style/noNonNullAssertion: its length was just checked
  return events[0]!
}
