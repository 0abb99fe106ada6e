import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VENDOR_NAMES, VENDORS, type VendorName, vendorOf } from '../../src/vendors'
import { MAX_REFS } from '../../src/vendors/limits'
import { type DecodedEvent, Undecodable } from '../../src/vendors/vendor'
import { cases } from '../harness'
import { textOf, URL_, utf8 } from './harness'
import { bodyOf, form, HEADERS, SAMPLES, XML } from './samples'

/** Decodes; null where the payload is refused with {@link Undecodable}. Any other exception fails the test. */
function attempt(name: VendorName, body: string, headers: Record<string, string> = HEADERS): DecodedEvent[] | null {
  try {
    return VENDORS[name].decode(body, headers)
  } catch (error) {
    if (error instanceof Undecodable) return null
    throw error
  }
}

const nullable = (kind: string) => (value: unknown) => value === null || typeof value === kind

/** What holds for every decoded event, whatever the payload was. */
function expectWellFormed(events: DecodedEvent[], name: string) {
  expect(events.length).toBeGreaterThan(0)
  for (const it of events) {
    expect(it.event_type).toMatch(/./s)
    const texts = [
      it.vendor_event_id,
      it.occurred_at,
      it.api_version,
      it.object.type,
      it.object.id,
      it.object.status,
      it.customer,
      it.subscription,
      it.invoice,
    ]
    expect(texts.every(nullable('string'))).toBe(true)
    expect(texts).not.toContain('')
    expect(nullable('boolean')(it.livemode)).toBe(true)
    if (it.occurred_at !== null) expect(it.occurred_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    if (it.amount) {
      expect(Number.isSafeInteger(it.amount.value)).toBe(true)
      expect(it.amount.currency).toBe(it.amount.currency.toUpperCase())
    }
    expect(it.refs.length).toBeLessThanOrEqual(MAX_REFS)
    expect(it.refs.every((ref) => typeof ref === 'string' && ref !== '')).toBe(true)
    expect(new Set(it.refs).size).toBe(it.refs.length)
    if (it.object.id !== null) expect(it.refs[0]).toBe(it.object.id)
    // The search by consumer finds the events of these vendors by their refs.
    if (vendorOf(name)?.snapshots && it.customer !== null) expect(it.refs).toContain(it.customer)
  }
}

/** Paths to every value within a payload. */
function paths(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, inner]) => paths(inner, [...path, key]))]
}

function replaced(value: unknown, path: (string | number)[], by: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return by
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) }
  const slots = copy as Record<string | number, unknown>
  if (by === undefined && rest.length === 0) delete slots[key]
  else slots[key] = replaced(slots[key], rest, by)
  return copy
}

const ODD: unknown[] = [
  undefined,
  null,
  '',
  ' ',
  'x',
  '.',
  '/',
  '__proto__',
  'constructor',
  '1e9',
  '9'.repeat(400),
  '2026-02-30T00:00:00Z',
  -1,
  0,
  0.1,
  1e21,
  1e308,
  true,
  false,
  [],
  [null],
  [[]],
  {},
  { id: {} },
  { id: 7 },
  { toString: 1, valueOf: 1, length: -1 },
]
const GARBAGE = [
  '',
  ' ',
  'null',
  '[]',
  '{}',
  '0',
  '"x"',
  'true',
  'NaN',
  '{',
  '{"a":',
  '\u0000',
  '\ufeff{}',
  '[['.repeat(50_000),
  '{"a":'.repeat(50_000),
  `{"data":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
  '<a/>',
  'a=b',
  'bt_payload=%',
  'bt_payload=AAAA',
]

describe.each(VENDOR_NAMES)('%s: decode', (name) => {
  const sample = bodyOf(name, SAMPLES[name])

  it('reads its sample', () => {
    const events = attempt(name, sample)
    expectWellFormed(events ?? [], name)
    expect(events?.[0]?.occurred_at).not.toBeNull()
    expect(
      events?.[0]?.amount !== null || ['standard', 'gocardless', 'hmac', 'recurly', 'shopify'].includes(name),
    ).toBe(true)
  })

  it.each(GARBAGE.map((text) => [text.slice(0, 12), text]))('refuses %j as undecodable', (_, text) => {
    // Shopify’s topic is a header: an empty object is a payload of any topic.
    if (name === 'shopify' && text === '{}') return expectWellFormed(attempt(name, text) ?? [], name)
    if (name === 'shopify' && text.startsWith('{"data":')) return expectWellFormed(attempt(name, text) ?? [], name)
    expect(attempt(name, text)).toBeNull()
  })

  it('handles every field missing or of another type', () => {
    if (name === 'braintree') return expect(attempt(name, form(XML.replaceAll(/>[^<]+</g, '><')))).toBeNull()
    for (const path of paths(SAMPLES[name])) {
      for (const odd of ODD) {
        const events = attempt(name, bodyOf(name, replaced(SAMPLES[name], path, odd)))
        if (events) expectWellFormed(events, name)
      }
    }
  })

  it('handles every header missing or empty', () => {
    for (const headers of [{}, Object.fromEntries(Object.keys(HEADERS).map((key) => [key, '']))]) {
      const events = attempt(name, sample, headers)
      if (events) expectWellFormed(events, name)
      else expect(['shopify', 'hmac']).toContain(name)
    }
  })

  it('throws nothing but Undecodable, for any input (fast-check)', () => {
    const text = fc.string({ unit: 'binary' })
    const where = paths(SAMPLES[name])
    const payload =
      name === 'braintree'
        ? fc.oneof(
            text,
            text.map((it) => form(it)),
            fc.tuple(text, fc.nat(XML.length)).map(([it, i]) => form(XML.slice(0, i) + it + XML.slice(i))),
          )
        : fc.oneof(
            text,
            fc.json({ maxDepth: 6 }),
            fc
              .tuple(fc.constantFrom(...where), fc.jsonValue())
              .map(([path, value]) => bodyOf(name, replaced(SAMPLES[name], path, value))),
            fc.tuple(fc.nat(sample.length), text).map(([i, it]) => sample.slice(0, i) + it + sample.slice(i + 1)),
          )
    fc.assert(
      fc.property(payload, fc.dictionary(fc.constantFrom(...Object.keys(HEADERS)), text), (body, headers) => {
        const events = attempt(name, body, headers)
        if (events) expectWellFormed(events, name)
      }),
      { numRuns: cases(500) },
    )
  })

  it('verify() throws nothing and accepts nothing unsigned, for any input (fast-check)', async () => {
    const names = [
      'stripe-signature',
      'paddle-signature',
      'webhook-signature',
      'webhook-id',
      'webhook-timestamp',
      'x-signature',
      'x-square-hmacsha256-signature',
      'recurly-signature',
      'x-shopify-hmac-sha256',
      'authorization',
    ]
    const value = fc.oneof(
      fc.string(),
      fc.base64String().map((it) => `v1,${it}`),
      fc.constantFrom('t=1,v1=00', 'ts=1;h1=00', '1', 'Basic Og==', 'Basic', '0'.repeat(64)),
    )
    const secret = fc.oneof(
      fc.string(),
      fc.constantFrom('', 'whsec_', 'whpk_', 'whpk_AAAA', ':', 'a:', '0', 'whsec_c2VjcmV0c2VjcmV0'),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom(...names), value),
        fc.uint8Array(),
        fc.boolean(),
        fc.array(secret),
        async (fields, junk, own, secrets) => {
          const headers = new Headers()
          for (const [key, it] of Object.entries(fields)) headers.set(key, it.replace(/[^\x20-\x7e]/g, ''))
          // A header that contains the secret itself is accepted from some vendors.
          const live = secrets.filter((it) => it.trim() !== headers.get('authorization'))
          const bytes = own ? utf8(sample) : new Uint8Array(junk)
          const verdict = await VENDORS[name].verify({ headers, bytes, url: URL_, now: Date.now() }, live)
          expect(verdict.ok).toBe(false)
        },
      ),
      { numRuns: cases(200) },
    )
  })

  it('keeps exactly the headers that it decodes with, named in lower case, none of them with a secret', () => {
    const read = new Set<string>()
    let without = ''
    const headers = new Proxy<Record<string, string>>(HEADERS, {
      get(target, header: string) {
        // The vendor `hmac` keeps its own notes beside the headers.
        if (!header.startsWith(':')) read.add(header)
        return without && header.startsWith(without) ? undefined : target[header]
      },
    })
    attempt(name, sample, headers)
    // Some vendors read a header only where the payload has no time.
    if (name !== 'braintree') attempt(name, bodyOf(name, replaced(SAMPLES[name], ['timestamp'], undefined)), headers)
    // Others read a header under another name only where it is missing under the first.
    without = 'webhook-'
    if (name === 'standard') attempt(name, bodyOf(name, replaced(SAMPLES[name], ['timestamp'], undefined)), headers)
    const { keptHeaders } = VENDORS[name]
    expect([...read].sort()).toEqual([...keptHeaders].sort())
    for (const kept of keptHeaders) {
      expect(kept).toBe(kept.toLowerCase())
      expect(kept).not.toMatch(/signature|hmac|authorization|cookie|token|secret/)
    }
  })

  it('says why it refuses an empty secret', () => expect(VENDORS[name].checkSecret('')).toMatch(/\w+ \w+/))
})

describe('an event without its object', () => {
  it.each([
    ['chargebee', 'content'],
    ['lemonsqueezy', 'data'],
    ['paddle', 'data'],
    ['polar', 'data'],
    ['square', 'data'],
    ['stripe', 'data'],
  ] as const)('of %s keeps its envelope', (name, field) => {
    const { [field]: _, ...rest } = SAMPLES[name] as Record<string, unknown>
    const [whole] = VENDORS[name].decode(JSON.stringify(SAMPLES[name]), HEADERS)
    const { vendor_event_id, event_type, occurred_at } = whole as DecodedEvent
    let thrown: unknown
    try {
      VENDORS[name].decode(JSON.stringify(rest), HEADERS)
    } catch (error) {
      thrown = error
    }
    // Lemon Squeezy's time is in the object.
    const envelope = { vendor_event_id, event_type, occurred_at: name === 'lemonsqueezy' ? null : occurred_at }
    expect(thrown).toBeInstanceOf(Undecodable)
    expect((thrown as Undecodable).envelope).toEqual(envelope)
  })
})

describe('the table of vendors', () => {
  it('knows its own names only', () => {
    expect(vendorOf('paddle')).toBe(VENDORS.paddle)
    for (const unknown of ['', 'Paddle', 'toString', '__proto__']) expect(vendorOf(unknown)).toBeUndefined()
    expect(Object.keys(SAMPLES).sort()).toEqual([...VENDOR_NAMES].sort())
    expect(textOf(utf8('ë'))).toBe('ë')
  })
})
