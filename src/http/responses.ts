import { codeOf, ERRORS, type FaultName } from '../lib/faults'
import { IDEMPOTENCY_REPLAYED } from './idempotency'
import type { Operation, Responses } from './meta'
import { problemExample } from './problem'
import { SAMPLE } from './samples'
import { type Components, type JsonObject, media } from './schemas'

/** The headers of responses, by the name of their component. */
export const HEADERS = {
  RequestId: {
    description: 'The id that you sent, or ours. Quote it when you ask for help.',
    required: true,
    schema: { type: 'string' },
    example: SAMPLE.request,
  },
  NoStore: {
    description: 'Responses are never cached.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
    example: 'no-store',
  },
  Cached: {
    description: 'How long the response may be cached.',
    required: true,
    schema: { type: 'string' },
    example: 'public, max-age=300',
  },
  AnyOrigin: {
    description: 'Pages of every site may read the response.',
    required: true,
    schema: { type: 'string', const: '*' },
    example: '*',
  },
  RetryAfter: {
    description: 'How long to wait before the next attempt (seconds).',
    required: true,
    schema: { type: 'integer', minimum: 0 },
    example: 10,
  },
  RateLimit: {
    description:
      'The limit that refused the request: how much of it remains (`r`, always 0), and when to try again (`t`, seconds).',
    required: true,
    schema: { type: 'string' },
    example: '"credential";r=0;t=10',
  },
  RateLimitPolicy: {
    description:
      'The limit that refused the request: at most `q` requests in a window of `w` seconds. Limits are approximate and count per location.',
    required: true,
    schema: { type: 'string' },
    example: '"credential";q=3000;w=60',
  },
  Challenge: {
    description: 'The challenge of RFC 6750.',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer realm="platform"',
  },
  ETag: {
    description:
      'The version of what is shown. Send it as `If-Match` to change only this version, or as `If-None-Match` to ask whether there is another one, where a call takes these headers.',
    required: true,
    schema: { type: 'string' },
    example: '"3"',
  },
  IdempotencyReplayed: {
    description:
      'The request is a repeat: an earlier one with the same `Idempotency-Key` was executed, and this one was not.',
    required: false,
    schema: { type: 'string', pattern: '^true$' },
    example: 'true',
  },
  ScopeChallenge: {
    description: 'Names the missing scope, with `insufficient_scope` and `insufficient_role`.',
    required: false,
    schema: { type: 'string' },
    example: 'Bearer realm="platform", error="insufficient_scope", scope="api_keys:write"',
  },
} as const

const BY_STATUS: Record<number, Record<string, keyof typeof HEADERS>> = {
  401: { 'WWW-Authenticate': 'Challenge' },
  403: { 'WWW-Authenticate': 'ScopeChallenge' },
  429: { 'Retry-After': 'RetryAfter', RateLimit: 'RateLimit', 'RateLimit-Policy': 'RateLimitPolicy' },
  503: { 'Retry-After': 'RetryAfter' },
}

type Special = Pick<Responses[number], 'etag' | 'cached'> & { isRepeatable?: boolean }

function headersOf(path: string, status: number, { etag, cached, isRepeatable }: Special = {}): JsonObject {
  const names: Record<string, keyof typeof HEADERS> = {
    'X-Request-Id': 'RequestId',
    ...(/^\/(platform|auth|ingest|p)\//.test(path) && { 'Cache-Control': cached ? 'Cached' : 'NoStore' }),
    ...(path.startsWith('/p/') && { 'Access-Control-Allow-Origin': 'AnyOrigin' }),
    ...BY_STATUS[status],
    ...(etag && { ETag: 'ETag' }),
    ...(isRepeatable && { [IDEMPOTENCY_REPLAYED]: 'IdempotencyReplayed' }),
  }
  return Object.fromEntries(
    Object.entries(names).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  )
}

/** The responses of an operation when it succeeds. */
export function successes(path: string, operation: Operation, components: Components): JsonObject {
  return Object.fromEntries(
    Object.entries(operation.responses).map(([status, { description, schema, ...special }]) => [
      status,
      {
        description,
        headers: headersOf(path, Number(status), { ...special, isRepeatable: operation.repeated !== undefined }),
        ...(schema && { content: { 'application/json': media(schema, 'output', components) } }),
      },
    ]),
  )
}

/** The responses of an operation when it fails: one for each status, which names the codes and has an example of each. */
export function failures(path: string, faults: readonly FaultName[], components: Components): JsonObject {
  const byStatus = [...Map.groupBy(faults, (fault) => ERRORS[fault].status)].sort(([a], [b]) => a - b)
  return Object.fromEntries(
    byStatus.map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((fault) => `\`${codeOf(fault)}\``).join(', '),
        headers: headersOf(path, status),
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            examples: Object.fromEntries(ofStatus.map((fault) => exampleOf(fault, components))),
          },
        },
      },
    ]),
  )
}

function exampleOf(fault: FaultName, { examples }: Components) {
  examples[fault] = { value: problemExample(fault) }
  return [codeOf(fault), { $ref: `#/components/examples/${fault}` }] as const
}
