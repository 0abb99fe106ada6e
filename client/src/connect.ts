import createFetchClient, { type Client, type ClientOptions } from 'openapi-fetch'
import type { Calls } from './calls.js'
import { unwrap } from './errors.js'
import { type RetryOptions, retryingFetch } from './retry.js'
import type { paths } from './schema.js'

export type PlatformClientOptions = Omit<ClientOptions, 'baseUrl'> & {
  /** The address of the API, for example `https://api.example.com`. */
  baseUrl: string
  /** An API key, or the token of a console session. Only sign-in, health and the keys of tokens work without it. */
  token?: string | undefined
  /** The project that the calls concern. An API key needs that of its own project. */
  projectId?: string | undefined
  /** How often and how long a call is tried. False: once. */
  retry?: RetryOptions | false
  /** How long one attempt may take (milliseconds). 15,000 by default. */
  timeoutMs?: number
}

/**
 * The calls of the API twice: as a method for each, which returns the body or throws, and as `GET`, `POST`, … of a path, which
 * return `data` or `error`, and the response.
 */
export type PlatformClient = Client<paths> &
  Calls & {
    readonly baseUrl: string
    readonly projectId: string | undefined
  }

/** Each operation by its id: method, path, and why a `POST` can be sent again: it takes a `key`, or only `reads`. */
export type CallTable = Readonly<Record<string, readonly [method: string, path: string, again?: 'key' | 'reads']>>

type Given = Record<string, unknown>
type Options = { signal?: AbortSignal; headers?: Record<string, string> }
/** openapi-fetch without the types of the paths. */
type Untyped = {
  request: (
    method: string,
    path: string,
    init: object,
  ) => Promise<{ data?: unknown; error?: unknown; response: Response }>
}

/** A client of the calls in a table. */
export function connect(calls: CallTable, given: PlatformClientOptions): PlatformClient {
  const { baseUrl, token, projectId, headers, retry = {}, timeoutMs = 15_000, fetch = ask, ...options } = given
  const readsOnly = new WeakSet<Request>()
  const isRepeatable = (request: Request) =>
    request.method !== 'POST' || request.headers.has('Idempotency-Key') || readsOnly.has(request)
  const client = createFetchClient<paths>({
    bodySerializer: (body: unknown) =>
      typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    ...options,
    fetch: retryingFetch({ fetch, retry, timeoutMs, isRepeatable }),
    baseUrl,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(projectId !== undefined && { 'X-Project-Id': projectId }),
      ...headers,
    },
  })
  const posts = new Map(
    Object.values(calls).flatMap(([method, path, again]) => (method === 'POST' ? [[path, again]] : [])),
  )
  client.use({
    onRequest({ request, schemaPath }) {
      const again = request.method === 'POST' ? posts.get(schemaPath) : undefined
      if (again === 'reads') readsOnly.add(request)
      if (again !== 'key' || retry === false || request.headers.has('Idempotency-Key')) return
      request.headers.set('Idempotency-Key', crypto.randomUUID())
    },
  })
  const methods = Object.entries(calls).map(([id, [method, path]]) => [id, named(client as Untyped, method, path)])
  return Object.assign(client, Object.fromEntries(methods), { baseUrl, projectId })
}

/** Looked up at each call, and without an owner: Workers refuse it as a method of another object. */
const ask = (request: Request) => fetch(request)

/** One call as a method. */
function named(client: Untyped, method: string, path: string) {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return async ({ body, ...given }: Given = {}, { headers, signal }: Options = {}) => {
    const pick = (isInPath: boolean) =>
      Object.fromEntries(Object.entries(given).filter(([name]) => inPath.includes(name) === isInPath))
    const params = { path: pick(true), query: pick(false) }
    return unwrap(client.request(method, path, { params, body, headers, signal }))
  }
}
