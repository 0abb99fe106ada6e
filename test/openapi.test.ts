import { beforeAll, describe, expect, it } from 'vitest'
import { app } from '../src/app'
import { SCOPES } from '../src/lib/access'
import { codeOf, ERRORS } from '../src/lib/faults'
import { type Answer, call, ORIGIN } from './harness'
import { type Json, misfits, resolve } from './harness/json-schema'
import { nameOf, ROUTES } from './routes/of-app'
import { callRoute, expectNoSecret, expectSampled, tokenFor } from './routes/walk'
import { worldsByRoute } from './routes/world'

/** Calls of /auth that take no credentials, although others with their beginning do. */
const PUBLIC = ['POST /auth/sessions', 'POST /auth/sessions/passkey', 'POST /auth/passkeys/challenge']
/** Pages for people: no part of the API. */
const PAGES = ['GET /auth/sign-in', 'POST /auth/sign-in', 'GET /auth/sso/start']
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

let document: Json
let operations: { name: string; path: string; method: string; operation: Json }[]

beforeAll(async () => {
  const answer = await call('/openapi.json')
  expect(answer.headers.get('Content-Type')).toMatch(/^application\/json/)
  document = answer.body
  operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      method,
      operation,
    })),
  )
})

/** Every object inside a value, with where it is. */
function* objects(value: unknown, at = '#'): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [at, value as Json]
  for (const [key, part] of Object.entries(value)) yield* objects(part, `${at}/${key}`)
}

/** Every body of an operation, of its request and its responses. */
function bodiesOf({ requestBody, responses }: Json): { type: string; content: Json }[] {
  return [requestBody ?? {}, ...Object.values<Json>(responses)].flatMap(({ content }) =>
    Object.entries<Json>(content ?? {}).map(([type, content]) => ({ type, content })),
  )
}

const HEADERS: Record<string, string[]> = {
  '401': ['WWW-Authenticate'],
  '403': ['WWW-Authenticate'],
  '429': ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  '503': ['Retry-After'],
}

function headersExpected(name: string, status: string): string[] {
  return [
    'X-Request-Id',
    ...(/ \/(platform|auth|ingest|p)\//.test(name) ? ['Cache-Control'] : []),
    ...(HEADERS[status] ?? []),
  ]
}

/** Headers of every answer on the plane: it is not stored, not sniffed, and sandboxed. */
function expectHeadersOfPlane({ headers }: Answer) {
  expect(headers.get('Cache-Control')).toBe('no-store')
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  expect(headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'; .*; sandbox$/)
}

describe('/openapi.json', () => {
  const worldOf = worldsByRoute()

  it('is sent again only if it has changed', async () => {
    const first = await call('/openapi.json')
    const tag = first.headers.get('ETag') ?? ''
    expect(tag).toMatch(/^(W\/)?"[^"]+"$/)
    const again = await call('/openapi.json', { headers: { 'If-None-Match': tag } })
    expect([again.status, again.text, again.headers.get('ETag')]).toEqual([304, '', tag])
    const other = await call('https://other.test/openapi.json', {
      headers: { 'If-None-Match': tag },
      bindings: { PUBLIC_ORIGIN: 'https://other.test' },
    })
    expect([other.status, other.headers.get('ETag') === tag]).toEqual([200, false])
  })

  it('is OpenAPI 3.1 of this deployment', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) })
    expect(document.servers).toEqual([{ url: ORIGIN }])
  })

  it('has every route of the app, and no other', () => {
    const served = new Set(
      app.routes
        .filter(
          ({ method, path }) =>
            method !== 'ALL' && /^\/(platform\/v1|auth|ingest|exposures|healthz|metrics|p)(\/|$)/.test(path),
        )
        .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
        .filter((name) => !PAGES.includes(name)),
    )
    expect(served.size).toBeGreaterThan(25)
    expect(operations.map(({ name }) => name).sort()).toEqual([...served].sort())
  })

  it('has methods that HTTP has, and ids that are unique and telling', () => {
    for (const { method } of operations) expect(METHODS).toContain(method)
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[a-z]+([A-Z][a-z]+)+$/)
  })

  it('describes each operation: summary, tag, and what it answers, well and ill', () => {
    const tags = document.tags.map(({ name }: Json) => name)
    for (const { name, operation } of operations) {
      expect(operation.summary, name).toMatch(/\S/)
      expect(tags, name).toEqual(expect.arrayContaining(operation.tags))
      const statuses = Object.keys(operation.responses)
      expect(statuses.filter((status) => /^2\d\d$/.test(status)).length, name).toBeGreaterThan(0)
      expect(statuses.filter((status) => /^[45]\d\d$/.test(status)).length, name).toBeGreaterThan(0)
      for (const response of Object.values<Json>(operation.responses)) expect(response.description, name).toMatch(/\S/)
    }
    expect(new Set(operations.flatMap(({ operation }) => operation.tags))).toEqual(new Set(tags))
  })

  it('declares each parameter of a path, and each once', () => {
    for (const { name, path, operation } of operations) {
      const parameters = (operation.parameters ?? []) as Json[]
      const inPath = parameters.filter((one) => one.in === 'path').map((one) => one.name)
      expect(inPath.sort(), name).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one).sort())
      expect(
        parameters.filter((one) => one.in === 'path').every((one) => one.required),
        name,
      ).toBe(true)
      const named = parameters.map((one) => `${one.in} ${one.name}`)
      expect(new Set(named).size, name).toBe(named.length)
    }
  })

  it('has no reference that leads nowhere, and no component that nothing refers to', () => {
    const refs = [...objects(document)].flatMap(([at, { $ref }]) =>
      typeof $ref === 'string' ? [[at, $ref] as const] : [],
    )
    expect(refs.length).toBeGreaterThan(20)
    for (const [at, ref] of refs) {
      expect(ref, at).toMatch(/^#\/components\/(schemas|examples|headers)\/\w+$/)
      expect(resolve(document, ref), at).toBeTypeOf('object')
    }
    const used = new Set(refs.map(([, ref]) => ref))
    const { securitySchemes: _, ...kinds } = document.components as Record<string, Json>
    const components = Object.entries(kinds).flatMap(([kind, of]) =>
      Object.keys(of).map((name) => `#/components/${kind}/${name}`),
    )
    expect(components.filter((ref) => !used.has(ref))).toEqual([])
  })

  it('states who may call each operation, in the terms of its security schemes', () => {
    const schemes = Object.keys(document.components.securitySchemes)
    expect(schemes.sort()).toEqual(['api_key', 'console_session', 'project_id'])
    for (const { name, operation } of operations) {
      const wanted = operation.security.flatMap((one: Json) => Object.keys(one))
      expect(schemes, name).toEqual(expect.arrayContaining(wanted))
      expect(wanted.length > 0, name).toBe(
        / \/(platform|auth\/(sessions?|invitations|events|user|passkeys|recovery-codes)(\/|$))/.test(name) &&
          !PUBLIC.includes(name),
      )
      if (operation['x-required-scope']) expect(SCOPES, name).toContain(operation['x-required-scope'])
    }
  })

  it('names each fault that it documents by a code of the table', () => {
    const codes = new Map<string, Set<string>>()
    for (const fault of Object.keys(ERRORS) as (keyof typeof ERRORS)[]) {
      const status = String(ERRORS[fault].status)
      codes.set(status, new Set([...(codes.get(status) ?? []), codeOf(fault)]))
    }
    for (const { name, operation } of operations) {
      for (const [status, { description, content }] of Object.entries<Json>(operation.responses)) {
        if (!/^[45]/.test(status)) continue
        const named = description.match(/`([a-z_]+)`/g).map((code: string) => code.slice(1, -1))
        for (const code of named) expect(codes.get(status), `${name} ${status}`).toContain(code)
        expect(Object.keys(content)).toEqual(['application/problem+json'])
      }
    }
  })

  it('asks for X-Project-Id as a security scheme, beside the credentials that need it, and never as a parameter', () => {
    expect(document.components.securitySchemes.project_id).toMatchObject({
      type: 'apiKey',
      in: 'header',
      name: 'X-Project-Id',
    })
    const policies = new Map(ROUTES.map((route) => [nameOf(route).replaceAll(/:(\w+)/g, '{$1}'), route.meta.operation]))
    for (const { name, operation } of operations) {
      const project = policies.get(name)?.policy?.project
      for (const one of operation.security as Json[]) {
        expect('project_id' in one, name).toBe('api_key' in one || project === true)
      }
      expect(operation.parameters?.map((one: Json) => one.name.toLowerCase()) ?? [], name).not.toContain('x-project-id')
    }
  })

  it.each<[string, (operation: Json, name: string) => unknown[]]>([
    [
      'describes itself in a sentence',
      ({ description }) => (/^\S.*[.`]$/s.test(description ?? '') ? [] : [description]),
    ],
    [
      'has a named schema for every JSON body',
      (operation) =>
        bodiesOf(operation).filter(
          ({ type, content }) =>
            type.endsWith('json') && !/^#\/components\/schemas\/[A-Z]\w+$/.test(content.schema.$ref),
        ),
    ],
    [
      'has an example of every body, which fits its schema',
      (operation) =>
        bodiesOf(operation).flatMap(({ type, content }) => {
          const examples = Object.values<Json>(content.examples ?? {}).map(({ $ref }) => resolve(document, $ref)?.value)
          if ('example' in content) examples.push(content.example)
          if (examples.length === 0) return [`${type}: no example`]
          return examples.flatMap((value) => misfits(document, content.schema, value))
        }),
    ],
    [
      'has an example of every path parameter',
      ({ parameters = [] }) => parameters.filter((one: Json) => one.in === 'path' && !(one.example && one.description)),
    ],
    [
      'documents the headers of every response',
      ({ responses }, name) =>
        Object.entries<Json>(responses).flatMap(([status, { headers = {} }]) =>
          headersExpected(name, status)
            .filter((header) => !headers[header])
            .map((header) => `${status}: ${header}`),
        ),
    ],
    [
      'has an example of every error code that it names',
      ({ responses }) =>
        Object.entries<Json>(responses).flatMap(([status, { description, content }]) => {
          if (status < '400') return []
          const named = [...description.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code)
          const { examples } = content['application/problem+json']
          return named.filter((code) => resolve(document, examples[code]?.$ref ?? '#/none')?.value.code !== code)
        }),
    ],
  ])('each operation %s', (_, wrongs) => {
    for (const { name, operation } of operations) expect(wrongs(operation, name), name).toEqual([])
  })

  it('names every closed list', () => {
    const inline = [...objects(document)].filter(
      ([at, { enum: values }]) => Array.isArray(values) && !/^#\/components\/schemas\/\w+$/.test(at),
    )
    expect(inline.map(([at]) => at)).toEqual([])
    const { ErrorCode, FieldErrorCode, Scope, EventStatus, Vendor } = document.components.schemas
    expect(new Set(ErrorCode.enum)).toEqual(new Set((Object.keys(ERRORS) as (keyof typeof ERRORS)[]).map(codeOf)))
    for (const one of [FieldErrorCode, Scope, EventStatus, Vendor]) expect(one.enum.length).toBeGreaterThan(5)
  })

  it('leaves objects of responses open, because fields may be added, and those of requests closed', () => {
    const reach = (value: unknown, seen = new Set<string>()): Json[] =>
      [...objects(value)].flatMap(([, one]) => {
        if (typeof one.$ref !== 'string' || seen.has(one.$ref)) return one.type === 'object' ? [one] : []
        seen.add(one.$ref)
        return reach(resolve(document, one.$ref), seen)
      })
    const shut = (one: Json) => one.additionalProperties === false
    const isMap = (one: Json) =>
      one.propertyNames !== undefined &&
      (['string', 'object'].includes(one.additionalProperties?.type) || one.additionalProperties?.$ref !== undefined)
    for (const { name, operation } of operations) {
      const responses = Object.values<Json>(operation.responses).map(({ content }) => content)
      expect(reach(responses).filter(shut), name).toEqual([])
      if (name.includes('/ingest/')) continue
      expect(
        reach(operation.requestBody?.content ?? {}).filter((one) => !shut(one) && !isMap(one)),
        name,
      ).toEqual([])
    }
  })

  it.each([
    ['GET /platform/v1/billing/webhooks/search', 'livemode', undefined],
    ['DELETE /platform/v1/api-keys/{id}', 'issued', false],
    ['POST /platform/v1/billing/webhooks/replay', 'dry_run', false],
    ['POST /platform/v1/billing/webhooks/{event_id}/replay', 'dry_run', false],
  ])('shows a boolean as a boolean: %s %s', (name, parameter, otherwise) => {
    const found = operations
      .find((one) => one.name === name)
      ?.operation.parameters.find((one: Json) => one.name === parameter)
    expect(found.schema).toEqual({ type: 'boolean', ...(otherwise !== undefined && { default: otherwise }) })
  })

  it('documents the refusal of a damaged cursor wherever one is taken, in the query or in the body', () => {
    const taking = operations.filter(({ operation }) => {
      const inQuery = operation.parameters?.some((one: Json) => one.name === 'cursor')
      const content = operation.requestBody?.content?.['application/json']
      const schema = content && resolve(document, content.schema.$ref)
      return inQuery || schema?.properties?.cursor !== undefined
    })
    expect(taking.map(({ name }) => name)).toContain('POST /platform/v1/billing/webhooks/replay')
    for (const { name, operation } of taking) {
      expect(JSON.stringify(operation.responses['400']), name).toContain('invalid_cursor')
    }
  })

  it('shows no example or default that is a secret', () => {
    expect(JSON.stringify(document)).not.toMatch(/svc_v1_[0-9a-f]{8}|svc_cs_[0-9a-f]{8}|whsec_\w{8}/)
  })

  it.each(ROUTES.filter(({ path }) => !path.startsWith('/ingest')).map((route) => [nameOf(route), route] as const))(
    'documents what each route answers, and [keys.8] only mint and rotate answer with a secret: %s',
    async (name, route) => {
      const world = await worldOf(route)
      const token = tokenFor(world, route)
      const { operation } = operations.find((one) => one.name === name.replaceAll(/:(\w+)/g, '{$1}')) as {
        operation: Json
      }
      // First: a good request may end the session.
      const bad = await callRoute(world, route, { token, query: 'nonsense=1' })
      const good = await callRoute(world, route, { token })
      for (const answer of [good, bad]) {
        await expectNoSecret(world, route, answer)
        if (/^\/(platform|auth)\//.test(route.path)) expectHeadersOfPlane(answer)
        const response = operation.responses[String(answer.status)]
        expect(response, `${answer.status} ${answer.text}`).toBeDefined()
        for (const [header, { $ref }] of Object.entries<Json>(response.headers)) {
          const { required, schema } = resolve(document, $ref) as Json
          const value = answer.headers.get(header)
          if (required) expect(value, header).not.toBeNull()
          if (schema.const) expect(value, header).toBe(schema.const)
        }
        const [type] = (answer.headers.get('Content-Type') ?? '').split(';')
        if (answer.text === '') expect(response.content).toBeUndefined()
        else expect(misfits(document, response.content[type as string].schema, answer.body)).toEqual([])
      }
      expectSampled(route, good) // A refusal would show nothing.
      expect(bad.status).toBe(422)
      expect(bad.body.errors).toEqual([expect.objectContaining({ pointer: '/nonsense' })])
    },
  )
})
