import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldFaults } from '../../src/http/issues'
import { hmacOf } from '../../src/vendors/hmac'
import { presetOf } from '../../src/vendors/presets'
import { partsOf, unsafeIn } from '../../src/vendors/template'
import { PRESET_NAMES } from '../../src/vendors/verification'
import { VerificationBody, verificationOf } from '../../src/vendors/verification-fields'
import { cases } from '../harness'
import { URL_ } from './harness'

const SAFE = { algorithm: 'sha256', header: 'x-mac', encoding: 'hex', signed: '{body}' }
const TIMED = { ...SAFE, signed: '{time}.{body}', time_header: 'x-time' }

/** What is wrong with a verification: pointer and code of each field. */
function wrongIn(sent: unknown): string[] {
  const parsed = VerificationBody.safeParse(sent)
  if (parsed.success) return []
  return parsed.error.issues.flatMap(fieldFaults).map(({ pointer, code }) => `${pointer} ${code}`)
}

describe('a verification', () => {
  it.each<[string, object, ...string[]]>([
    ['without the body', { ...SAFE, signed: 'v1' }, '/signed malformed'],
    ['with the body twice', { ...SAFE, signed: '{body}.{body}' }, '/signed malformed'],
    ['with the time twice', { ...TIMED, signed: '{time}.{time}.{body}' }, '/signed malformed'],
    ['with the address twice', { ...SAFE, signed: '{url}.{url}.{body}' }, '/signed malformed'],
    ['with a header twice', { ...SAFE, signed: '{header:a}.{header:A}.{body}' }, '/signed malformed'],
    [
      'with four headers',
      { ...SAFE, signed: '{header:a}.{header:b}.{header:c}.{header:d}.{body}' },
      '/signed malformed',
    ],
    ['with an unknown variable', { ...SAFE, signed: '{method}{body}' }, '/signed malformed'],
    ['with a lone brace', { ...SAFE, signed: '{body}}' }, '/signed malformed'],
    ['with a control character', { ...SAFE, signed: '{body}\u0000' }, '/signed malformed'],
    ['with 41 characters of text', { ...SAFE, signed: `${'a'.repeat(41)}{body}` }, '/signed malformed'],
    ['with a header against the body', { ...SAFE, signed: '{header:a}{body}' }, '/signed malformed'],
    ['with the body against a header', { ...SAFE, signed: '{body}{header:a}' }, '/signed malformed'],
    ['with the address against the body', { ...SAFE, signed: '{url}{body}' }, '/signed malformed'],
    ['with two headers together', { ...SAFE, signed: '{header:a}{header:b}.{body}' }, '/signed malformed'],
    ['with the body against the time', { ...TIMED, signed: '{body}{time}' }, '/signed malformed'],
    ['with the time against a header', { ...TIMED, signed: '{time}{header:a}.{body}' }, '/signed malformed'],
    ['with the time against the address', { ...TIMED, signed: '{time}{url}.{body}' }, '/signed malformed'],
    ['with a header against the time', { ...TIMED, signed: '{header:a}{time}.{body}' }, '/signed malformed'],
    ['with a time that nothing sends', { ...SAFE, signed: '{time}.{body}' }, '/signed malformed'],
    ['with a time that is not signed', { ...SAFE, time_header: 'x-time' }, '/signed malformed'],
    [
      'with a pair of the time that is not signed',
      { ...SAFE, pairs: { time: 't', signature: 'v1' } },
      '/signed malformed',
    ],
    ['with two times', { ...TIMED, pairs: { time: 't', signature: 'v1' } }, '/time_header malformed'],
    [
      'with pairs of one name',
      { ...SAFE, signed: '{time}.{body}', pairs: { time: 't', signature: 't' } },
      '/pairs/time malformed',
    ],
    ['with pairs and a prefix', { ...SAFE, pairs: { signature: 'v1' }, prefix: 'v1=' }, '/prefix malformed'],
    ['with a prefix of spaces', { ...SAFE, prefix: '   ' }, '/prefix malformed'],
    ['with sha1', { ...SAFE, algorithm: 'sha1' }, '/confirm required'],
    ['with sha1 and no confirmation', { ...SAFE, algorithm: 'sha1', confirm: false }, '/confirm not_one_of'],
    ['with md5', { ...SAFE, algorithm: 'md5' }, '/algorithm not_one_of'],
    ['in Authorization', { ...SAFE, header: 'Authorization' }, '/header reserved'],
    ['in a cookie', { ...SAFE, header: 'cookie' }, '/header reserved'],
    ['with the time in a cookie', { ...TIMED, time_header: 'Cookie' }, '/time_header reserved'],
    ['with the time in the header of the signature', { ...TIMED, time_header: 'X-Mac' }, '/time_header reserved'],
    ['that signs Authorization', { ...SAFE, signed: '{header:authorization}.{body}' }, '/signed reserved'],
    ['that signs its own signature', { ...SAFE, signed: '{header:x-mac}.{body}' }, '/signed reserved'],
    ['that stores Authorization', { ...SAFE, id: 'header:Authorization' }, '/id reserved'],
    ['that stores a cookie', { ...SAFE, type: 'header:cookie' }, '/type reserved'],
    ['that stores the signature', { ...SAFE, time: 'header:X-Mac' }, '/time reserved'],
    ['with a path of six names', { ...SAFE, id: 'a.b.c.d.e.f' }, '/id malformed'],
    ['with a wildcard', { ...SAFE, id: 'data.*.id' }, '/id malformed'],
    ['with an empty name', { ...SAFE, id: 'data..id' }, '/id malformed'],
    ['with a header that has a line feed', { ...SAFE, header: 'x\nmac' }, '/header malformed'],
    ['with a tolerance of none', { ...TIMED, tolerance_s: 0 }, '/tolerance_s out_of_range'],
    ['with a tolerance of two hours', { ...TIMED, tolerance_s: 7200 }, '/tolerance_s out_of_range'],
    ['with a misspelled field', { ...SAFE, preffix: 'v1=' }, '/preffix unknown_field'],
    ['of an unknown preset', { preset: 'constructor' }, '/preset not_one_of'],
    ['of nothing', {}, ' required'],
    [
      'of its id alone',
      { id: 'id' },
      '/algorithm required',
      '/header required',
      '/encoding required',
      '/signed required',
    ],
    [
      'of a preset and a part of its own',
      { preset: 'github', header: 'x-mac' },
      '/algorithm required',
      '/encoding required',
      '/signed required',
    ],
  ])('%s is refused', (_, sent, ...wrong) => expect(wrongIn(sent)).toEqual(wrong))

  it('of a preset alone is the preset, with what is changed about it', () => {
    for (const preset of PRESET_NAMES)
      expect(verificationOf(VerificationBody.parse({ preset }))).toEqual(presetOf(preset))
    expect(verificationOf(VerificationBody.parse({ preset: 'slack', tolerance_s: 60, id: null }))).toEqual({
      ...presetOf('slack'),
      tolerance_s: 60,
      id: null,
    })
  })

  it('has defaults, and names of headers in lower case', () => {
    expect(verificationOf(VerificationBody.parse({ ...TIMED, header: 'X-MAC' }))).toEqual({
      ...TIMED,
      unit: 's',
      tolerance_s: 300,
    })
    expect(VerificationBody.parse({ ...SAFE, algorithm: 'sha1', confirm: true })).toMatchObject({ algorithm: 'sha1' })
  })

  const text = fc.oneof(fc.string(), fc.constantFrom('{body}', '{time}', '{url}', '{header:a}', '.', ':', 'v0:'))
  const template = fc.array(text, { maxLength: 6 }).map((parts) => parts.join(''))
  const name = fc.constantFrom('x-mac', 'x-time', 'a', 'Authorization', 'cookie', '__proto__', '')
  const place = fc.option(
    fc.oneof(fc.constantFrom('id', 'data.id', 'header:a', '__proto__.x', 'a.b.c.d.e.f'), fc.string()),
  )
  const any = fc.record(
    {
      preset: fc.option(fc.constantFrom(...PRESET_NAMES)),
      algorithm: fc.constantFrom('sha256', 'sha512', 'sha1', 'md5'),
      confirm: fc.constantFrom(true, false),
      header: name,
      encoding: fc.constantFrom('hex', 'base64', 'base64url'),
      prefix: fc.string({ maxLength: 4 }),
      pairs: fc.record(
        { time: fc.constantFrom('t', 'v1'), signature: fc.constantFrom('v1', 's') },
        { requiredKeys: ['signature'] },
      ),
      time_header: name,
      unit: fc.constantFrom('s', 'ms'),
      signed: template,
      tolerance_s: fc.integer(),
      id: place,
      type: place,
      time: place,
      livemode: place,
    },
    { requiredKeys: ['algorithm', 'header', 'encoding', 'signed'] },
  )
  const delivery = fc.record({
    headers: fc.dictionary(
      fc.constantFrom('x-mac', 'x-time', 'a', 'linear-signature', 'x-signature', 'x-hub-signature-256'),
      fc.oneof(
        fc.string(),
        fc.constantFrom('t=1751000000,v1=00', 'sha256=', '1751000000', '0'.repeat(64), `v1=${'0'.repeat(64)}`),
        fc.base64String(),
      ),
    ),
    bytes: fc.uint8Array(),
    secrets: fc.array(fc.oneof(fc.string(), fc.constantFrom('', 'secret_0123')), { maxLength: 5 }),
  })

  it('that passes never throws and accepts nothing unsigned (fast-check)', async () => {
    let passed = 0
    const of = fc.oneof(
      any,
      fc.constantFrom(...PRESET_NAMES).map((preset) => ({ preset })),
      fc.record({
        ...Object.fromEntries(Object.entries(SAFE).map(([key, value]) => [key, fc.constant(value)])),
        id: place,
      }),
    )
    await fc.assert(
      fc.asyncProperty(of, delivery, fc.string(), async (sent, { headers, bytes, secrets }, body) => {
        const parsed = VerificationBody.safeParse(sent)
        if (!parsed.success) return
        passed += 1
        const vendor = hmacOf(verificationOf(parsed.data))
        const plain = Object.entries(headers).map(([key, value]) => [key, value.replace(/[^\x20-\x7e]/g, '')] as const)
        const asked = {
          headers: new Headers([...plain].map(([key, value]) => [key, value])),
          bytes: new Uint8Array(bytes),
          url: URL_,
          now: Date.now(),
        }
        expect((await vendor.verify(asked, secrets)).ok).toBe(false)
        try {
          expect(vendor.decode(body, { ...Object.fromEntries(plain), ...vendor.keptBeside })).toHaveLength(1)
        } catch (error) {
          expect((error as Error).name).toBe('Undecodable')
        }
      }),
      { numRuns: cases(2000) },
    )
    expect(passed).toBeGreaterThan(50)
  })

  it('reads a template in one way only, if it is safe (fast-check)', () => {
    fc.assert(
      fc.property(template, (signed) => {
        const parts = partsOf(signed)
        if (unsafeIn(parts) !== null || !parts) return
        const written = parts.map((part) =>
          part.of === 'text' ? part.text : `{${part.of === 'header' ? `header:${part.name}` : part.of}}`,
        )
        expect(written.join('').toLowerCase()).toBe(signed.toLowerCase())
        expect(parts.filter(({ of }) => of === 'body')).toHaveLength(1)
      }),
      { numRuns: cases(2000) },
    )
  })
})
