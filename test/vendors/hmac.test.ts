import { describe, expect, it } from 'vitest'
import { hmac, hmacOf, readSigned } from '../../src/vendors/hmac'
import { presetOf } from '../../src/vendors/presets'
import { Undecodable } from '../../src/vendors/vendor'
import { PRESET_NAMES, type Verification } from '../../src/vendors/verification'
import { VerificationBody } from '../../src/vendors/verification-fields'
import {
  bodyCases,
  type Case,
  decodeOne,
  type Fixture,
  header,
  headerCases,
  mac,
  mutations,
  now,
  rotation,
  TIME_CASES,
  twice,
  URL_,
  utf8,
} from './harness'
import { accepts, BODY, OTHER, SECRET, SENDERS, SENT, type Sender } from './hmac-senders'

function fixtureOf({ verification, sign, sdk }: Sender): Fixture {
  return {
    vendor: hmacOf(verification),
    secret: SECRET,
    other: OTHER,
    body: BODY,
    sign: async (body, secret, at) => ({ body, headers: new Headers(await sign(body, secret, at)) }),
    ...(sdk && {
      sdk: ({ headers, body }, secret) =>
        accepts(() => sdk(headers.get(verification.header) ?? '', body, secret, headers)),
    }),
  }
}

/** What makes a timed signature wrong, wherever the time is. */
function timeCases({ header: name, pairs, time_header }: Verification): Case[] {
  const time = (change: (value: string) => string) =>
    time_header
      ? header(time_header, change)
      : header(name, (value) => value.replace(/(=)(\d{10,13})\b/, (_, is, digits) => is + change(digits)))
  const cases: Case[] = [
    { name: 'the time changed', expected: 'signature_mismatch', change: time((v) => String(Number(v) + 1)) },
    { name: 'the time with a zero before it', expected: 'signature_malformed', change: time((v) => `0${v}`) },
    { name: 'the time without its last digit', expected: 'signature_malformed', change: time((v) => v.slice(0, -1)) },
    { name: 'the time with a fraction', expected: 'signature_malformed', change: time((v) => `${v}.0`) },
    { name: 'the time a word', expected: 'signature_malformed', change: time(() => 'yesterday') },
    { name: 'the time negative', expected: 'signature_malformed', change: time((v) => `-${v}`) },
    { name: 'no time', expected: 'signature_malformed', change: time(() => '') },
  ]
  if (time_header) cases.push({ name: 'the time twice', expected: 'signature_malformed', change: twice(time_header) })
  else {
    const again = (value: string) => `${value},${pairs?.time}=${SENT}`
    cases.push({ name: 'two times', expected: 'signature_malformed', change: header(name, again) })
  }
  return [...TIME_CASES, ...cases]
}

/** Changes of how the signature is written. */
function formCases({ header: name, encoding, pairs, prefix }: Verification): Case[] {
  const end = { hex: 64, base64: 44, base64url: 43 }[encoding]
  const written = (change: (signature: string) => string) =>
    header(name, (value) => value.slice(0, -end) + change(value.slice(-end)))
  const bytes = (it: string) =>
    encoding === 'hex' ? Uint8Array.fromHex(it) : Uint8Array.fromBase64(it, { alphabet: encoding })
  const cases: Case[] = [
    {
      name: 'with a space inside',
      expected: 'signature_malformed',
      change: written((it) => `${it.slice(0, 8)} ${it.slice(8)}`),
    },
    {
      name: 'a digest of another length',
      expected: 'signature_malformed',
      change: written((it) => it.slice(0, it.length / 2)),
    },
    {
      name: 'two signatures with a comma, the right one first',
      expected: pairs ? 'accepted' : 'signature_malformed',
      change: header(name, (v) => (pairs ? `${v},${pairs.signature}=${v.slice(-end)}` : `${v},${v}`)),
    },
  ]
  if (!pairs) cases.push({ name: 'the header twice', expected: 'signature_malformed', change: twice(name) })
  if (encoding === 'base64') {
    const url = (it: string) => bytes(it).toBase64({ alphabet: 'base64url' })
    cases.push({
      name: 'without its padding',
      expected: 'signature_malformed',
      change: written((it) => it.replace('=', '')),
    })
    // The signature of this body has a character that the alphabets write differently.
    cases.push({
      name: 'in the other alphabet',
      expected: 'signature_malformed',
      change: written((it) => url(it).replace(/^./, '-')),
    })
  }
  if (encoding === 'base64url') {
    cases.push({ name: 'with padding', expected: 'signature_malformed', change: written((it) => `${it}=`) })
  }
  if (prefix) {
    cases.push({
      name: 'without its prefix',
      expected: 'signature_malformed',
      change: header(name, (v) => v.slice(prefix.length)),
    })
    cases.push({
      name: 'with its prefix twice',
      expected: 'signature_malformed',
      change: header(name, (v) => prefix + v),
    })
    cases.push({
      name: 'with its prefix in upper case',
      expected: 'signature_malformed',
      change: header(name, (v) => prefix.toUpperCase() + v.slice(prefix.length)),
    })
  }
  if (pairs) {
    const wrong = `${pairs.signature}=${'0'.repeat(64)}`
    const sixteen = { hex: wrong, base64: '', base64url: `${pairs.signature}=${'A'.repeat(43)}` }[encoding]
    cases.push({
      name: 'seventeen signatures',
      expected: 'signature_malformed',
      change: header(name, (v) => `${v}${`,${sixteen}`.repeat(16)}`),
    })
    cases.push({
      name: 'sixteen signatures',
      expected: 'accepted',
      change: header(name, (v) => `${v}${`,${sixteen}`.repeat(15)}`),
    })
    cases.push({
      name: 'a pair of another name beside it',
      expected: 'accepted',
      change: header(name, (v) => `${v},v0=x`),
    })
  }
  return cases
}

describe.each(Object.entries(SENDERS))('hmac as %s', (name, sender) => {
  const { verification, differs = {} } = sender
  const fixture = fixtureOf(sender)
  const isTimed = verification.signed.includes('{time}')
  const cases = [
    ...headerCases(fixture, verification.header, verification.encoding, {
      // Without a prefix or pairs, nothing is left of the header.
      ...(!verification.pairs &&
        !verification.prefix && { 'no signature in the header': { expected: 'signature_missing' } }),
    }),
    ...bodyCases('signature_mismatch'),
    ...formCases(verification),
    ...(isTimed ? timeCases(verification) : []),
  ].map((it) => (differs[it.name] ? { ...it, sdkDiffers: differs[it.name] as string } : it))
  mutations(name, fixture, cases)
  rotation(name, fixture)
  it('is a verification that can be set', () => {
    expect(VerificationBody.parse(verification)).toEqual(verification)
  })
})

describe('what hmac signs', () => {
  const at = now()
  const of = (more: Partial<Verification>) =>
    hmacOf({
      algorithm: 'sha256',
      header: 'x-mac',
      encoding: 'hex',
      unit: 's',
      tolerance_s: 300,
      signed: '{body}',
      ...more,
    })
  const ask = (vendor: ReturnType<typeof of>, headers: Record<string, string>, body: string, late = 0) =>
    vendor.verify({ headers: new Headers(headers), bytes: utf8(body), url: URL_, now: at + late }, [SECRET])
  const signed = (text: string) => ({ 'x-mac': mac('sha256', SECRET, 'hex', text) })

  it('takes the address and headers as parts', async () => {
    const vendor = of({ signed: 'POST\n{url}\n{header:X-Id}\n{body}' })
    const headers = { ...signed(`POST\n${URL_}\nid-1\n{}`), 'x-id': 'id-1' }
    expect(await ask(vendor, headers, '{}')).toEqual({ ok: true, secret: 0 })
    expect(await ask(vendor, { ...headers, 'x-id': 'id-2' }, '{}')).toMatchObject({ cause: 'signature_mismatch' })
    const { 'x-id': _, ...without } = headers
    expect(await ask(vendor, without, '{}')).toMatchObject({ cause: 'signature_malformed' })
  })

  it.each([
    ['{header:x-id}.{body}', 'a.b', '{}', 'a', 'b.{}'],
    ['{body}.{header:x-id}', 'b', '{}.a', 'a.b', '{}'],
    ['{header:x-id}..{body}', 'a.', '{}', 'a', '.{}'],
  ])('%s: one signature fits one delivery only', async (template, id, body, otherId, otherBody) => {
    const vendor = of({ signed: template })
    const whole = (x: string, y: string) => template.replace('{header:x-id}', x).replace('{body}', y)
    expect(whole(id, body)).toBe(whole(otherId, otherBody))
    const both = await Promise.all([
      ask(vendor, { ...signed(whole(id, body)), 'x-id': id }, body),
      ask(vendor, { ...signed(whole(id, body)), 'x-id': otherId }, otherBody),
    ])
    expect(both.filter(({ ok }) => ok).length).toBeLessThanOrEqual(1)
  })

  it.each([
    ['sha512', 64],
    ['sha1', 20],
  ] as const)('%s: a MAC of %i bytes, and no other', async (algorithm, length) => {
    const vendor = of({ algorithm })
    const { createHmac } = await import('node:crypto')
    const made = createHmac(algorithm, SECRET).update('{}').digest('hex')
    expect(made).toHaveLength(length * 2)
    for (const encoding of ['base64', 'base64url'] as const) {
      const written = createHmac(algorithm, SECRET).update('{}').digest(encoding)
      expect(await ask(of({ algorithm, encoding }), { 'x-mac': written }, '{}')).toEqual({ ok: true, secret: 0 })
    }
    expect(await ask(vendor, { 'x-mac': made }, '{}')).toEqual({ ok: true, secret: 0 })
    expect(await ask(vendor, signed('{}'), '{}')).toEqual({ ok: false, cause: 'signature_malformed' })
  })

  it('holds to its own tolerance', async () => {
    const vendor = of({ signed: '{time}{body}', time_header: 'x-time', tolerance_s: 10 })
    const time = String(at / 1000)
    const headers = { ...signed(`${time}{}`), 'x-time': time }
    expect(await ask(vendor, headers, '{}', 10_000)).toEqual({ ok: true, secret: 0 })
    expect(await ask(vendor, headers, '{}', 10_001)).toEqual({
      ok: false,
      cause: 'signature_timestamp',
      skew_ms: 10_001,
    })
    // A digit of the body cannot be taken for one of the time.
    expect(await ask(vendor, { ...headers, 'x-time': `${time}{` }, '}')).toMatchObject({ cause: 'signature_malformed' })
  })

  it('verifies nothing without a verification', async () => {
    expect(await ask(hmac, signed('{}'), '{}')).toEqual({ ok: false, cause: 'signature_mismatch' })
    for (const bad of ['', 'short', 'with a space in it']) expect(hmac.checkSecret(bad)).toMatch(/8 or more/)
    expect(hmac.checkSecret(SECRET)).toBeNull()
  })

  it('reads WorkOS’s header with any spaces', () => {
    const workos = presetOf('workos')
    const headers = new Headers({ 'workos-signature': `t=${SENT} ;  v1=${'0'.repeat(64)}` })
    const read = readSigned(workos, { headers, bytes: utf8('{}'), url: URL_, now: at })
    expect(read).toMatchObject({ signedAt: SENT, signed: utf8(`${SENT}.{}`) })
  })
})

describe('what hmac reads', () => {
  const places = { ':id': 'data.id', ':type': 'header:x-type', ':time': 'at', ':livemode': 'live' }
  const event = { data: { id: 7 }, at: 1_751_000_000, live: 'true' }

  it('takes values from paths and headers', () => {
    expect(decodeOne(hmac, event, { ...places, 'x-type': 'a.b' })).toMatchObject({
      vendor_event_id: '7',
      event_type: 'a.b',
      occurred_at: '2025-06-27T04:53:20.000Z',
      livemode: true,
      object: { type: null, id: null, status: null },
      state: null,
      content: event,
    })
    expect(decodeOne(hmac, event)).toMatchObject({ vendor_event_id: null, event_type: 'webhook', content: null })
    // A body that is not JSON has what its headers say.
    const form = decodeOne(hmac, 'a=b&c=d', {
      ':id': 'header:x-id',
      'x-id': 'i',
      ':type': 'header:x-type',
      'x-type': 't',
    })
    expect(form).toMatchObject({ vendor_event_id: 'i', event_type: 't' })
  })

  it.each([
    ['2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123456Z'],
    ['1751000000', '2025-06-27T04:53:20.000Z'],
    [1_751_000_000_123, '2025-06-27T04:53:20.123Z'],
    ['soon', null],
    [{}, null],
  ])('the time %j is %j', (sent, time) => {
    expect(decodeOne(hmac, { ...event, at: sent }, { ':time': 'at' }).occurred_at).toBe(time)
  })

  it.each(['constructor.name', '__proto__.x', 'toString', 'data.id.length', 'data.0', 'live.0', 'hasOwnProperty'])(
    'finds nothing at %s, which is no own property',
    (path) => {
      expect(decodeOne(hmac, event, { ':id': path }).vendor_event_id).toBeNull()
      expect(() => decodeOne(hmac, event, { ':type': path })).toThrow(Undecodable)
    },
  )

  it('keeps the headers that it names, and where the values are', () => {
    const { keptHeaders, keptBeside } = hmacOf(presetOf('github'))
    expect(keptHeaders).toEqual(['x-github-delivery', 'x-github-event'])
    expect(keptBeside).toEqual({ ':id': 'header:x-github-delivery', ':type': 'header:x-github-event' })
    for (const name of PRESET_NAMES) {
      const { header: ofSignature } = presetOf(name)
      expect(hmacOf(presetOf(name)).keptHeaders).not.toContain(ofSignature)
    }
  })
})
