import type { Hono } from 'hono'
import { findTargetHandler } from 'hono/utils/handler'
import type * as z from 'zod'
import { KEPT_FOR, MAX_KEY_CHARS } from '../idempotency/limits'
import { SESSIONS_ONLY } from '../lib/access-words'
import type { FaultName } from '../lib/faults'
import { HOUR } from '../lib/time'
import type { CredentialKind } from './actor'
import type { HttpEnv } from './context'
import { heedsKey, IDEMPOTENCY_KEY } from './idempotency'
import { META, type Meta, type Operation, TAGS, type Tag } from './meta'
import type { Policy } from './policy'
import { Problem } from './problem'
import { failures, HEADERS, successes } from './responses'
import { PATH_PARAMETERS } from './samples'
import { type Components, type JsonObject, media, queryParameters, toSchema } from './schemas'

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

/** The security scheme of X-Project-Id: clients state it once, beside their credentials. */
const PROJECT_SCHEME = 'project_id'

/** The document of each app. It is built once in an isolate, because that takes long. */
const documents = new WeakMap<object, JsonObject>()

/**
 * The OpenAPI 3.1 document, built from the same schemas that validate and the same policies that are enforced.
 *
 * @param server the address of the API; `/` stands for the host that served the document
 */
export function openApi(
  app: Pick<Hono<HttpEnv>, 'routes'>,
  kinds: readonly CredentialKind[],
  server: string,
): JsonObject {
  const document = documents.get(app) ?? build(app, kinds)
  documents.set(app, document)
  return { ...document, servers: [{ url: server }] }
}

function build(app: Pick<Hono<HttpEnv>, 'routes'>, kinds: readonly CredentialKind[]): JsonObject {
  const components: Components = { schemas: {}, examples: {} }
  const paths: Record<string, JsonObject> = {}
  const tags = new Set<Tag>()
  for (const { method, path, meta } of routeTable(app)) {
    if (!meta.operation) continue
    tags.add(meta.operation.tag)
    const template = path.replaceAll(/:(\w+)/g, '{$1}')
    const operation = {
      [method.toLowerCase()]: operationOf({ method, path, meta, operation: meta.operation }, kinds, components),
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
    components: { ...components, headers: HEADERS, securitySchemes: securitySchemes(kinds) },
  }
}

function securitySchemes(kinds: readonly CredentialKind[]): JsonObject {
  const bearers = kinds.map(({ scheme: { name, description } }) => [
    name,
    { type: 'http', scheme: 'bearer', description },
  ])
  const description = 'The id of the project. An API key needs that of its own project.'
  return {
    ...Object.fromEntries(bearers),
    [PROJECT_SCHEME]: { type: 'apiKey', in: 'header', name: 'X-Project-Id', description },
  }
}

/** Which credentials an operation takes, each with X-Project-Id where it needs that. */
function securityOf(policy: Policy | null, kinds: readonly CredentialKind[]): JsonObject[] {
  return kinds
    .filter(({ type }) => policy?.actors.includes(type))
    .map(({ type, scheme }) => ({
      [scheme.name]: [],
      ...((type === 'api_key' || policy?.project === true) && { [PROJECT_SCHEME]: [] }),
    }))
}

type Described = { method: string; path: string; meta: Meta; operation: Operation }

function operationOf(
  { method, path, meta, operation }: Described,
  kinds: readonly CredentialKind[],
  components: Components,
): JsonObject {
  const { policy } = operation
  const parameters: JsonObject[] = pathParameters(path)
  const headers = { ...operation.headers, ...(operation.repeated && { [IDEMPOTENCY_KEY]: KEY_DESCRIPTION }) }
  for (const [name, description] of Object.entries(headers)) {
    parameters.push({ name, in: 'header', required: false, description, schema: { type: 'string' } })
  }
  if (meta.query) parameters.push(...queryParameters(meta.query, components))
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: describedOf(operation),
    tags: [operation.tag],
    security: securityOf(policy, kinds),
    ...(policy?.scope && { 'x-required-scope': policy.scope }),
    ...(parameters.length > 0 && { parameters }),
    ...(meta.body && {
      requestBody: {
        required: !meta.bodyOptional,
        content: { 'application/json': media(meta.body, 'input', components) },
      },
    }),
    ...(operation.rawBody && {
      requestBody: {
        required: true,
        content: {
          [operation.rawBody]: { schema: { type: 'string' }, example: '{"id":"evt_1","type":"invoice.paid"}' },
        },
      },
    }),
    responses: {
      ...successes(path, operation, components),
      ...failures(path, possibleFaults({ method, meta }, operation, kinds), components),
    },
  }
}

/** The description of a call. One that takes no API key says why. */
function describedOf({ id, description }: Operation): string {
  const reason = SESSIONS_ONLY[id]
  return reason ? `${description} An API key cannot make this call: ${reason}` : description
}

const KEY_DESCRIPTION = `A key of your choice for this request, of 1 to ${MAX_KEY_CHARS} visible ASCII characters. Send the same request with the same key again, and it is not executed twice. A key is kept for at least ${KEPT_FOR / HOUR} hours.`

function pathParameters(path: string): JsonObject[] {
  const segments = path.split('/')
  return segments.flatMap((segment, i) =>
    segment.startsWith(':')
      ? [
          {
            name: segment.slice(1),
            in: 'path',
            required: true,
            ...(PATH_PARAMETERS[`${segments[i - 2]}/${segments[i - 1]}`] ?? PATH_PARAMETERS[segments[i - 1] ?? '']),
            schema: { type: 'string' },
          },
        ]
      : [],
  )
}

/** Every fault that a request to this route can meet. */
export function possibleFaults(
  { method, meta }: Pick<RouteEntry, 'method' | 'meta'>,
  operation: Operation,
  kinds: readonly CredentialKind[],
): FaultName[] {
  const { policy, rawBody, repeated, faults = [] } = operation
  const all = new Set<FaultName>([
    'https_required',
    'validation_failed',
    // A call that takes no body reads it too, to refuse one.
    'body_timeout',
    'body_incomplete',
    'overloaded',
    'database_unavailable',
    'database_full',
    'not_configured',
    'not_migrated',
    'internal_error',
    ...faults,
  ])
  if (policy) {
    for (const fault of ['missing_credentials', 'malformed_credentials', 'rate_limited'] as const) all.add(fault)
    // The secret is looked up before the route refuses its kind, so faults of every kind are possible.
    for (const fault of kinds.flatMap((kind) => kind.faults)) all.add(fault)
    if (policy.project || policy.actors.includes('api_key')) all.add('project_required')
    if (policy.project === true) all.add('not_a_member')
    if (policy.project && policy.actors.includes('session')) all.add('passkey_required').add('sso_required')
    if (!policy.project && !policy.bounded && policy.actors.includes('session')) all.add('sso_session_limited')
    if (policy.scope) for (const fault of ['insufficient_scope', 'insufficient_role'] as const) all.add(fault)
    if (policy.confirmed && policy.actors.includes('session')) all.add('confirmation_required')
    if (!policy.actors.includes('api_key')) all.add('console_session_required')
    if (!policy.actors.includes('session')) all.add('api_key_required')
  }
  if (repeated) all.add('invalid_idempotency_key').add('idempotency_key_reused').add('idempotent_result_gone')
  else if (heedsKey(method, operation)) all.add('idempotency_not_supported')
  if (meta.body) for (const fault of ['invalid_json', 'unsupported_media_type'] as const) all.add(fault)
  if (meta.body || rawBody) all.add('payload_too_large')
  if (meta.query && 'cursor' in ((meta.query as z.ZodObject).shape ?? {})) all.add('invalid_cursor')
  return [...all]
}
