import { beforeAll, describe, expect, it } from 'vitest'
import { type Json, misfits, resolve } from '../scripts/lib/json-schema'
import { app } from '../src/app'
import { codeOf, ERRORS } from '../src/http/errors'
import { SCOPES } from '../src/lib/access'
import { call, ORIGIN } from './harness'
import { callRoute, nameOf, newWorld, ROUTES, tokenFor } from './routes'

/** Pages for people: no part of the API. */
const PAGES = ['GET /auth/sign-in', 'POST /auth/sign-in']
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

describe('/openapi.json', () => {
  it('is OpenAPI 3.1 of this deployment', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) })
    expect(document.servers).toEqual([{ url: ORIGIN }])
  })

  it('has every route of the app, and no other', () => {
    const served = new Set(
      app.routes
        .filter(
          ({ method, path }) => method !== 'ALL' && /^\/(platform\/v1|auth|ingest|healthz|metrics)(\/|$)/.test(path),
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

  it('has no reference that leads nowhere, and no schema that nothing refers to', () => {
    const refs = [...objects(document)].flatMap(([at, { $ref }]) =>
      typeof $ref === 'string' ? [[at, $ref] as const] : [],
    )
    expect(refs.length).toBeGreaterThan(20)
    for (const [at, ref] of refs) {
      expect(ref, at).toMatch(/^#\/components\/schemas\/\w+$/)
      expect(resolve(document, ref), at).toBeTypeOf('object')
    }
    const used = new Set(refs.map(([, ref]) => ref.slice('#/components/schemas/'.length)))
    expect(Object.keys(document.components.schemas).filter((name) => !used.has(name))).toEqual([])
  })

  it('states who may call each operation, in the terms of its security schemes', () => {
    const schemes = Object.keys(document.components.securitySchemes)
    expect(schemes.sort()).toEqual(['api_key', 'console_session'])
    for (const { name, operation } of operations) {
      const wanted = operation.security.flatMap((one: Json) => Object.keys(one))
      expect(schemes, name).toEqual(expect.arrayContaining(wanted))
      expect(wanted.length > 0, name).toBe(
        / \/(platform|auth\/sessions(\/|$))/.test(name) && name !== 'POST /auth/sessions',
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

  it('shows no example or default that is a secret', () => {
    expect(JSON.stringify(document)).not.toMatch(/svc_v1_[0-9a-f]{8}|svc_cs_[0-9a-f]{8}|whsec_\w{8}/)
  })

  it.each(ROUTES.filter(({ path }) => !path.startsWith('/ingest')).map((route) => [nameOf(route), route] as const))(
    'tells the truth of what is answered: %s',
    async (name, route) => {
      const world = await newWorld()
      const token = tokenFor(world, route)
      const { operation } = operations.find((one) => one.name === name.replaceAll(/:(\w+)/g, '{$1}')) as {
        operation: Json
      }
      // First: a good request may end the session.
      const bad = await callRoute(world, route, { token, query: 'nonsense=1' })
      const good = await callRoute(world, route, { token })
      for (const answer of [good, bad]) {
        const response = operation.responses[String(answer.status)]
        expect(response, `${answer.status} ${answer.text}`).toBeDefined()
        const [type] = (answer.headers.get('Content-Type') ?? '').split(';')
        if (answer.text === '') expect(response.content).toBeUndefined()
        else expect(misfits(document, response.content[type as string].schema, answer.body)).toEqual([])
      }
      expect(bad.status).toBe(422)
      expect(bad.body.errors).toEqual([expect.objectContaining({ pointer: '/nonsense' })])
    },
  )
})
