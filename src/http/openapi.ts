import type { Hono } from 'hono'
import { findTargetHandler } from 'hono/utils/handler'
import * as z from 'zod'
import type { FaultName } from '../lib/fault'
import type { CredentialKind } from './auth'
import type { HttpEnv } from './context'
import { codeOf, ERRORS } from './errors'
import { META, type Meta, type Operation, TAGS, type Tag } from './meta'

/** A route: one entry for each method and path, with the metadata of its middlewares. */
export type RouteEntry = { method: string; path: string; meta: Meta }

/** Every route of the app, in the order of registration. */
export function routeTable(app: Pick<Hono<HttpEnv>, 'routes'>): RouteEntry[] {
  const table = new Map<string, RouteEntry>()
  for (const { method, path, handler } of app.routes) {
    if (method === 'ALL') continue
    const key = `${method} ${path}`
    const entry = table.get(key) ?? { method, path, meta: {} }
    table.set(key, { ...entry, meta: { ...entry.meta, ...META.get(findTargetHandler(handler)) } })
  }
  return [...table.values()]
}

type Json = Record<string, unknown>

const Problem = z
  .object({
    type: z.string().meta({ format: 'uri-reference' }).describe('The documentation of the code.'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What to do next.'),
    code: z.string().describe('Stable: write code against this field.'),
    request_id: z.string(),
    errors: z
      .array(z.object({ pointer: z.string(), code: z.string(), message: z.string() }))
      .optional()
      .describe(
        'On 422: one entry for each invalid field, with its JSON Pointer. `code` is one of `required`, `wrong_type`, `out_of_range`, `not_one_of`, `malformed` and `unknown_field`.',
      ),
  })
  .meta({ id: 'Problem' })

/** The document of each app. It is built once in an isolate, because that takes long. */
const documents = new WeakMap<object, Json>()

/**
 * The OpenAPI 3.1 document, built from the same schemas that validate and the same policies that are enforced.
 *
 * @param server the address of the API; `/` stands for the host that served the document
 */
export function openApi(app: Pick<Hono<HttpEnv>, 'routes'>, kinds: readonly CredentialKind[], server: string): Json {
  const document = documents.get(app) ?? build(app, kinds)
  documents.set(app, document)
  return { ...document, servers: [{ url: server }] }
}

function build(app: Pick<Hono<HttpEnv>, 'routes'>, kinds: readonly CredentialKind[]): Json {
  const components: Json = {}
  const paths: Record<string, Json> = {}
  const tags = new Set<Tag>()
  for (const { method, path, meta } of routeTable(app)) {
    if (!meta.operation) continue
    tags.add(meta.operation.tag)
    const template = path.replaceAll(/:(\w+)/g, '{$1}')
    const operation = {
      [method.toLowerCase()]: operationOf({ path, meta, operation: meta.operation }, kinds, components),
    }
    paths[template] = { ...paths[template], ...operation }
  }
  toSchema(Problem, 'output', components)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Platform API',
      version: '1',
      description: 'A server-to-server API for project-bound API keys and a billing webhook inbox.',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [], // its place in the document
    tags: [...tags].sort().map((name) => ({ name, description: TAGS[name] })),
    security: [],
    paths,
    components: {
      schemas: components,
      securitySchemes: Object.fromEntries(
        kinds.map(({ scheme: { name, description } }) => [name, { type: 'http', scheme: 'bearer', description }]),
      ),
    },
  }
}

type Described = { path: string; meta: Meta; operation: Operation }

function operationOf({ path, meta, operation }: Described, kinds: readonly CredentialKind[], components: Json): Json {
  const { policy } = operation
  const parameters: Json[] = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  if (policy && (policy.project || policy.actors.includes('api_key'))) {
    const description =
      policy.project === true ? 'The id of the project.' : 'The id of the project. Required with an API key.'
    parameters.push({
      name: 'X-Project-Id',
      in: 'header',
      required: policy.project === true,
      description,
      schema: { type: 'string' },
    })
  }
  for (const [name, description] of Object.entries(operation.headers ?? {})) {
    parameters.push({ name, in: 'header', required: false, description, schema: { type: 'string' } })
  }
  if (meta.query) parameters.push(...queryParameters(meta.query))
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    tags: [operation.tag],
    security: kinds.filter(({ type }) => policy?.actors.includes(type)).map(({ scheme }) => ({ [scheme.name]: [] })),
    ...(policy?.scope && { 'x-required-scope': policy.scope }),
    ...(parameters.length > 0 && { parameters }),
    ...(meta.body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: toSchema(meta.body, 'input', components) } },
      },
    }),
    ...(operation.rawBody && {
      requestBody: { required: true, content: { [operation.rawBody]: { schema: { type: 'string' } } } },
    }),
    responses: { ...successes(operation, components), ...failures(meta, operation, kinds) },
  }
}

function queryParameters(schema: z.ZodType): Json[] {
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: rest,
  }))
}

function successes(operation: Operation, components: Json): Json {
  return Object.fromEntries(
    Object.entries(operation.responses).map(([status, { description, schema }]) => [
      status,
      {
        description,
        ...(schema && { content: { 'application/json': { schema: toSchema(schema, 'output', components) } } }),
      },
    ]),
  )
}

function failures(meta: Meta, operation: Operation, kinds: readonly CredentialKind[]): Json {
  const byStatus = new Map<number, string[]>()
  for (const fault of possibleFaults(meta, operation, kinds)) {
    const { status } = ERRORS[fault]
    byStatus.set(status, [...(byStatus.get(status) ?? []), codeOf(fault)])
  }
  return Object.fromEntries(
    [...byStatus].sort().map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\``).join(', '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  )
}

/** What can be wrong with a body before anything looks at its content. */
const BODY_FAULTS = ['payload_too_large', 'body_timeout', 'body_incomplete', 'overloaded'] as const

/** Every fault that a request to this route can meet. */
export function possibleFaults(
  meta: Meta,
  { policy, rawBody, faults = [] }: Operation,
  kinds: readonly CredentialKind[],
): FaultName[] {
  const all = new Set<FaultName>([
    ...(['https_required', 'validation_failed', 'database_unavailable', 'database_full', 'internal_error'] as const),
    ...faults,
  ])
  if (policy) {
    for (const fault of ['missing_credentials', 'malformed_credentials', 'rate_limited'] as const) all.add(fault)
    // The secret is looked up before the route refuses its kind, so faults of every kind are possible.
    for (const fault of kinds.flatMap((kind) => kind.faults)) all.add(fault)
    if (policy.project || policy.actors.includes('api_key')) all.add('project_required')
    if (policy.project === true) all.add('not_a_member')
    if (policy.scope) for (const fault of ['insufficient_scope', 'insufficient_role'] as const) all.add(fault)
    if (!policy.actors.includes('api_key')) all.add('console_session_required')
    if (!policy.actors.includes('session')) all.add('api_key_required')
  }
  if (meta.body) for (const fault of ['invalid_json', 'unsupported_media_type'] as const) all.add(fault)
  if (meta.body || rawBody) for (const fault of BODY_FAULTS) all.add(fault)
  if (meta.query && 'cursor' in ((meta.query as z.ZodObject).shape ?? {})) all.add('invalid_cursor')
  return [...all]
}

/** Converts a schema to JSON Schema. A schema with an id (`.meta({ id })`) becomes a component. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const { $schema: _, $defs, ...root } = jsonSchema(schema, io) as Json & { $defs?: Json }
  for (const [id, definition] of Object.entries($defs ?? {})) components[id] = relink(definition as Json)
  const id = schema.meta()?.id
  if (!id) return relink(root)
  // Zod gives some schemas with an id as a reference to their own definition.
  if (!$defs?.[id]) components[id] = relink(root)
  return { $ref: `#/components/schemas/${id}` }
}

/**
 * Leaves out the bounds of a safe integer, because API viewers would show -9007199254740991 as a sample. It calls the
 * schema's own method: `z.toJSONSchema` does the same and adds every kind of schema to the bundle.
 */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output') {
  return schema.toJSONSchema({
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema: made }) => {
      if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum
      if (made.maximum === Number.MAX_SAFE_INTEGER) delete made.maximum
    },
  })
}

/** Rewrites `#/$defs/X` references to the document's components. */
function relink<T>(value: T): T {
  if (Array.isArray(value)) return value.map(relink) as T
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'id' || typeof (value as Json).type !== 'string')
      .map(([key, part]) => [
        key,
        key === '$ref' && typeof part === 'string' ? part.replace('#/$defs/', '#/components/schemas/') : relink(part),
      ]),
  ) as T
}
