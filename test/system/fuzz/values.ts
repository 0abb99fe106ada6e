import * as fc from 'fast-check'
import { type Json, resolve } from '../../harness/json-schema.ts'

/** A placeholder for an id of a tenant. It is replaced when the request is sent. */
export type Ref = { ref: 'own' | 'other'; pool: string; index: number }
export type Value = string | Ref

/** Strings that are known to break software. */
const HOSTILE = [
  '',
  ' ',
  '\0',
  '..',
  '../..',
  '%00',
  "' OR 1=1 --",
  '"; DROP TABLE events; --',
  '%',
  '_',
  '\\',
  '{}',
  '[]',
  'null',
  'undefined',
  'NaN',
  '__proto__',
  'constructor',
  'toString',
  '-1',
  '0',
  '1e309',
  '9007199254740993',
  '99999999999999999999',
  '<script>alert(1)</script>',
  '\ud800',
  '\u202e',
  'ﷺ',
  'e\u0301',
  '🦊'.repeat(50),
  'a'.repeat(500),
  '9999-12-31T23:59:59.999Z',
  '0000-00-00T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '-271821-04-20T00:00:00Z',
]

export const hostileText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HOSTILE) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 200 }) },
)

export const hostileJson = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1e308, 2 ** 53, 0.1, [], {}, [[[[]]]], { __proto__: null }),
  fc.array(hostileText, { maxLength: 5 }),
  fc.jsonValue({ maxDepth: 3 }),
)

export function refTo(pool: string): fc.Arbitrary<Ref> {
  return fc.record({ ref: fc.constantFrom('own', 'other'), pool: fc.constant(pool), index: fc.nat(59) })
}

/** A value that matches a schema. */
export function fitting(document: Json, schema: Json): fc.Arbitrary<unknown> {
  if (schema.$ref) return fitting(document, resolve(document, schema.$ref) ?? {})
  const choices = (schema.anyOf ?? schema.oneOf) as Json[] | undefined
  if (choices) return fc.oneof(...choices.map((one) => fitting(document, one)))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const [type] = [schema.type ?? 'string'].flat()
  switch (type) {
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -100, max: Math.min(schema.maximum ?? 100, 2 ** 31 - 1) })
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(fitting(document, schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, 4),
      })
    case 'object':
      return fittingObject(document, schema)
    default:
      return fittingText(schema)
  }
}

function fittingObject(
  document: Json,
  { properties = {}, required = [], additionalProperties: inner }: Json,
): fc.Arbitrary<unknown> {
  // Texts can be made of it: the value may travel in a query.
  const noNullPrototype = true
  if (typeof inner === 'object' && Object.keys(inner).length > 0) {
    return fc.dictionary(fc.constantFrom('seats', 'plan', 'constructor'), fitting(document, inner), { noNullPrototype })
  }
  const parts = Object.entries<Json>(properties).map(([key, one]) => [key, fitting(document, one)] as const)
  return fc.record(Object.fromEntries(parts), { requiredKeys: required, noNullPrototype })
}

function fittingText({ format, minLength = 0, maxLength = 60 }: Json): fc.Arbitrary<string> {
  if (format === 'email') return fc.nat(30).map((n) => `fuzz${n}@example.com`)
  if (format === 'date-time') {
    const noInvalidDate = true
    const [min, max] = [new Date('2024-01-01'), new Date('2028-01-01')]
    return fc.date({ min, max, noInvalidDate }).map((date) => date.toISOString())
  }
  const words = fc.constantFrom('customer.updated', 'invoice.*', 'stripe', 'processed', 'sub_1', 'fuzz', 'whsec_fuzz1')
  const text = fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 60) })
  return fc.oneof(
    words.map((word) => word.slice(0, maxLength).padEnd(minLength, 'x')),
    text,
  )
}
