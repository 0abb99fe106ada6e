import * as fc from 'fast-check'
import { GENERATED_VENDORS } from '../../../scripts/lib/generated.ts'
import type { Json } from '../../harness/json-schema.ts'
import { isParameter, type Operation } from './operations.ts'
import { fitting, hostileJson, hostileText, refTo, type Value } from './values.ts'

/** Who sends: the tenant in three ways, a user with no project, the other tenant (which only reads), no credentials, or invented ones. */
export const CALLERS = [
  'session',
  'key',
  'spare',
  'alone',
  'other-session',
  'other-key',
  'anonymous',
  'made-up',
] as const
export type Caller = (typeof CALLERS)[number]
export type BodyOf =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  | { kind: 'bytes'; base64: string }
  | { kind: 'large'; size: number }
/** A random request with placeholders for ids. */
export type Shot = {
  operation: Operation
  method: string
  caller: Caller
  project: 'own' | 'other' | 'none' | 'made-up'
  parameters: Value[]
  query: [string, Value][]
  headers: [string, string][]
  body: BodyOf
  /** For an ingest request: the vendor of the connection, and whether the request is signed. */
  vendor: number
  signed: boolean
}

/** The pool of ids for a path parameter, by the fixed segment before it. */
const POOLS: Record<string, string> = {
  'api-keys': 'key',
  consumers: 'csm',
  devices: 'dev',
  plans: 'pln',
  grants: 'grt',
  projects: 'prj',
  connections: 'con',
  secrets: 'sec',
  webhooks: 'evt',
  replays: 'rpl',
  sessions: 'ses',
  ingest: 'con',
  subscriptions: 'vendor',
  invoices: 'vendor',
  'payment-methods': 'vendor',
}
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'text/plain',
  '',
  '*/*',
]
/** Few, so that other requests have the same one. */
const IDEMPOTENCY_KEYS = ['one', '"one"', 'two', 'three']
/** Characters that Node.js allows in a header value. */
const headerText = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((n) => String.fromCharCode(n)) })

/** Random requests. Most are valid except for one thing, because those get furthest. */
export function shots(document: Json, operations: readonly Operation[]): fc.Arbitrary<Shot> {
  return fc.oneof(...operations.map((operation) => shotAt(document, operation)))
}

function shotAt(document: Json, operation: Operation): fc.Arbitrary<Shot> {
  const { spec, method, template } = operation
  return fc
    .record({
      operation: fc.constant(operation),
      method: rarely(fc.constantFrom(...METHODS), method),
      caller: fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom<Caller>('session', 'key') },
        { weight: 2, arbitrary: fc.constantFrom(...CALLERS) },
      ),
      project: rarely(fc.constantFrom('other', 'none', 'made-up'), 'own' as const, 6),
      parameters: fc.tuple(...parametersOf(operation)) as fc.Arbitrary<Value[]>,
      query: queryOf(document, spec),
      headers: fc.array(
        fc.oneof(
          fc.tuple(fc.constantFrom('X-Request-Id', 'Accept', 'Accept-Language', 'User-Agent'), headerText),
          fc.tuple(fc.constant('Idempotency-Key'), fc.oneof(headerText, fc.constantFrom(...IDEMPOTENCY_KEYS))),
        ),
        { maxLength: 1 },
      ) as fc.Arbitrary<[string, string][]>,
      body: bodyOf(document, spec, template),
      vendor: fc.nat(GENERATED_VENDORS.length - 1),
      signed: fc.nat(9).map((n) => n > 1),
    })
    .chain((shot) =>
      fc.constantFrom(...CONTENT_TYPES).chain((type) =>
        fc.nat(9).map((n) => ({
          ...shot,
          headers: [...shot.headers, ['Content-Type', n > 0 ? 'application/json' : type] as [string, string]],
        })),
      ),
    )
}

function parametersOf({ segments, method }: Operation): fc.Arbitrary<Value>[] {
  return segments.flatMap((segment, i) => {
    if (!isParameter(segment)) return []
    const before = segments.slice(0, i).findLast((one) => !isParameter(one)) ?? ''
    // Callers choose the key of a feature, and the name by which a device is registered: with the id of another tenant, it is still
    // the caller's own.
    if (before === 'features' || (before === 'devices' && method === 'PUT'))
      return [fc.oneof(fc.constantFrom('seats', 'fuzz', 'constructor'), hostileText)]
    return [
      fc.oneof(
        { weight: 8, arbitrary: refTo(POOLS[before] ?? 'key') },
        { weight: 1, arbitrary: fc.constantFrom(...Object.values(POOLS)).chain(refTo) },
        { weight: 2, arbitrary: hostileText },
      ) as fc.Arbitrary<Value>,
    ]
  })
}

function queryOf(document: Json, spec: Json): fc.Arbitrary<[string, Value][]> {
  const named = ((spec.parameters ?? []) as Json[]).filter((one) => one.in === 'query')
  const stray = fc.tuple(fc.oneof(hostileText, fc.constantFrom('limit', 'cursor', 'nonsense')), hostileText)
  const good = named.map((one) => {
    const value: fc.Arbitrary<Value> = fc.oneof(
      { weight: 6, arbitrary: fitting(document, one.schema).map((v) => String(Array.isArray(v) ? (v[0] ?? '') : v)) },
      { weight: 2, arbitrary: refTo(one.name === 'cursor' ? 'cursor' : one.name === 'ref' ? 'vendor' : 'con') },
      { weight: 1, arbitrary: hostileText },
    )
    // An object travels as `name[key]=value`.
    const key = fc.constantFrom('plan', 'a', '', '$', '"')
    const name =
      one.style === 'deepObject' ? key.map((part) => `${one.name}[${part}]`) : fc.constant(one.name as string)
    return fc.tuple(name, value)
  })
  if (good.length === 0) return rarely(fc.array(stray, { maxLength: 2 }), [])
  return fc.oneof(
    {
      weight: 12,
      arbitrary: fc.subarray(good, { maxLength: Math.min(4, good.length) }).chain((some) => fc.tuple(...some)),
    },
    { weight: 1, arbitrary: fc.array(fc.oneof(stray, ...good), { maxLength: 6 }) },
  ) as fc.Arbitrary<[string, Value][]>
}

function bodyOf(document: Json, spec: Json, template: string): fc.Arbitrary<BodyOf> {
  const none: BodyOf = { kind: 'none' }
  const content = spec.requestBody?.content as Json | undefined
  if (!content)
    return rarely(
      hostileJson.map((value): BodyOf => ({ kind: 'json', value })),
      none,
    )
  const schema = content['application/json']?.schema as Json | undefined
  const good = schema ? fitting(document, schema) : deliveries
  const json = (value: unknown): BodyOf => ({ kind: 'json', value })
  const limit = template.startsWith('/ingest') ? 1024 * 1024 : 64 * 1024
  return fc.oneof(
    { weight: 8, arbitrary: good.map(json) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(good, fc.string({ maxLength: 12 }), hostileJson)
        .map(([v, key, bad]) => json(spoilt(v, key, bad))),
    },
    { weight: 1, arbitrary: hostileJson.map(json) },
    {
      weight: 1,
      arbitrary: fc
        .uint8Array({ maxLength: 200 })
        .map((bytes) => ({ kind: 'bytes', base64: Buffer.from(bytes).toString('base64') })),
    },
    { weight: 1, arbitrary: fc.constantFrom(none, { kind: 'large', size: limit + 1 }, { kind: 'large', size: limit }) },
  ) as fc.Arbitrary<BodyOf>
}

/** Spoils one field, adds an unknown one, or removes one. */
function spoilt(value: unknown, key: string, bad: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return bad
  const keys = Object.keys(value)
  const at = keys[key.length % (keys.length + 1)]
  if (at === undefined) return { ...value, [key]: bad }
  if (key.length % 3 !== 0) return { ...value, [at]: bad }
  return Object.fromEntries(Object.entries(value).filter(([one]) => one !== at))
}

const word = fc.oneof(fc.constantFrom('cus_1', 'sub_1', 'in_1', 'pm_1', 'active', 'paid', 'usd', 'XTS'), hostileText)
const leaf = fc.oneof(word, fc.integer(), fc.double(), fc.constant(null), fc.boolean())
const object = fc.dictionary(
  fc.constantFrom(
    ...'id object customer status currency items data quantity price product total amount_due amount_paid amount'.split(
      ' ',
    ),
    ...'current_period_start metadata created updated_at customer_id details totals payments subscription card type'.split(
      ' ',
    ),
  ),
  fc.oneof(
    leaf,
    fc.array(leaf, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('data', 'id', 'object', 'total'), leaf),
  ),
)
const type = fc.oneof(
  fc.constantFrom(
    ...'customer.subscription.updated invoice.paid payment_method.attached subscription.updated transaction.paid'.split(
      ' ',
    ),
  ),
  hostileText,
)
/** Bodies in the format of some vendor's events, with arbitrary values. */
const deliveries: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({
    id: word,
    object: fc.constant('event'),
    type,
    created: leaf,
    livemode: leaf,
    data: fc.record({ object, previous_attributes: fc.option(object) }),
  }),
  fc.record({ event_id: word, event_type: type, occurred_at: leaf, data: object }),
  fc.record({ events: fc.array(object, { maxLength: 5 }), event: object, meta: object, type, data: object }),
  fc.jsonValue({ maxDepth: 4 }),
)

/** The odd value once in `times`, else the usual one. */
function rarely<T, U>(odd: fc.Arbitrary<T>, usual: U, times = 25): fc.Arbitrary<T | U> {
  return fc.oneof({ weight: times - 1, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: odd })
}
