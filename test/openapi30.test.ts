import { beforeAll, describe, expect, it } from 'vitest'
import { call } from './harness'
import { type Json, misfits } from './harness/json-schema'

let newer: Json
let older: Json

beforeAll(async () => {
  newer = (await call('/openapi.json')).body
  older = (await call('/openapi-3.0.json')).body
})

/** Every schema in a part of a document, and its path there. */
function* schemas(part: unknown, at = ''): Generator<[string, Json]> {
  if (typeof part !== 'object' || part === null || /\/examples?$/.test(at)) return
  if (/\/(schema|items|additionalProperties|(schemas|properties)\/[^/]+|(anyOf|allOf)\/\d+)$/.test(at)) yield [at, part]
  for (const [key, inner] of Object.entries(part)) yield* schemas(inner, `${at}/${key}`)
}

describe('/openapi-3.0.json', () => {
  it('has the calls and the types of /openapi.json, for generators that read no 3.1', async () => {
    expect([older.openapi, newer.openapi]).toEqual(['3.0.3', '3.1.1'])
    const calls = ({ paths }: Json) =>
      Object.values<Json>(paths).flatMap((item) => Object.values<Json>(item).map(({ operationId }) => operationId))
    expect(calls(older)).toEqual(calls(newer))
    expect(Object.keys(older.components.schemas)).toEqual(Object.keys(newer.components.schemas))
    expect(older.servers).toEqual(newer.servers)
  })

  it('says nothing in words of 3.1', () => {
    const all = [...schemas(older)]
    expect(all.length).toBeGreaterThan(2000)
    const known = (
      '$ref allOf anyOf type nullable enum properties required additionalProperties items default description deprecated format ' +
      'pattern minimum maximum minLength maxLength minItems maxItems readOnly'
    ).split(' ')
    const wrong = all.filter(
      ([, one]) =>
        Object.keys(one).some((key) => !known.includes(key)) ||
        Array.isArray(one.type) ||
        one.type === 'null' ||
        (one.$ref !== undefined && Object.keys(one).length > 1),
    )
    expect(wrong).toEqual([])
  })

  it('allows null where 3.1 does, and every example', () => {
    const bodies = older.components.schemas as Record<string, Json>
    const { last_used_at, rate_limit, allowed_networks, name } = (bodies.ApiKey as Json).properties
    expect(last_used_at).toMatchObject({ type: 'string', format: 'date-time', nullable: true })
    expect(rate_limit).toMatchObject({ allOf: [{ $ref: '#/components/schemas/ApiKeyRateLimit' }], nullable: true })
    expect(allowed_networks).toMatchObject({ type: 'array', items: { type: 'string' }, nullable: true })
    expect(name).not.toHaveProperty('nullable')
    const shown = Object.entries<Json>(older.components.examples).filter(([id]) => bodies[id])
    expect(shown.length).toBeGreaterThan(150)
    for (const [id, { value }] of shown) expect(misfits(older, bodies[id] as Json, value), id).toEqual([])
    expect((bodies.Problem as Json).properties.code).toMatchObject({
      allOf: [{ $ref: '#/components/schemas/ErrorCode' }],
    })
  })
})

/** Two types of one name are an error in most languages, and generators make more of them than the document names. */
describe('the names of schemas', () => {
  const camel = (key: string) => key.replaceAll(/(?:^|[_-])(\w)/g, (_, first: string) => first.toUpperCase())
  /** What generators call an object that is described in its place: after the type and the field that hold it. */
  const inline = (schema: Json, name: string): string[] => [
    ...(schema.items?.properties || schema.properties ? [name] : []),
    ...(schema.anyOf ?? []).flatMap((one: Json) => inline(one, name)),
    ...inner(schema, name),
  ]
  const inner = ({ properties = {}, items, additionalProperties }: Json, name: string): string[] => [
    ...Object.entries<Json>(properties).flatMap(([key, one]) => inline(one, name + camel(key))),
    ...[items, additionalProperties].flatMap((one) => (typeof one === 'object' ? inner(one, name) : [])),
  ]

  it('do not clash with the names that generators make for nested objects and for constructors', () => {
    const named = Object.entries<Json>(newer.components.schemas)
    const made = named.flatMap(([name, schema]) => [`New${name}`, ...inner(schema, name)])
    expect(made).toEqual(expect.arrayContaining(['ApiKeyPrevious', 'InvoiceCustomerAddress', 'NewApiKey']))
    expect(named.map(([name]) => name).filter((name) => made.includes(name))).toEqual([])
  })

  it('are told to generators with integers that need 64 bits', () => {
    const all = newer.components.schemas
    expect(all.Store.properties.size_bytes.anyOf[0]).toMatchObject({ type: 'integer', format: 'int64' })
    expect(all.MintApiKey.properties.rate_limit.anyOf[0].properties.per_minute).not.toHaveProperty('format')
  })
})
