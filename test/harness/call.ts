import { createExecutionContext, createMessageBatch, getQueueResult, waitOnExecutionContext } from 'cloudflare:test'
import { hc } from 'hono/client'
import worker from '../../src'
import type { App } from '../../src/app'
import type { Env } from '../../src/env'
import { bound } from './bound'
import type { Json } from './json'
import { bindingsWith, queueOf, STORE_NUMBER } from './stores'

/** The address that the tests' requests go to. */
export const ORIGIN = 'https://platform.test'

let addresses = 0
/** An address in a network (/64) that no other request of the tests has: limits are per network. */
export function freshAddress(): string {
  addresses += 1
  return `2001:db8:${Math.floor(addresses / 65536).toString(16)}:${(addresses % 65536).toString(16)}::1`
}

/** `body` is the JSON that was answered, and null (whatever its type says) where something else was. */
export type Answer<T = Json> = { status: number; headers: Headers; body: T; text: string }

export type RequestOptions = {
  method?: string
  token?: string | null
  project?: string | null
  json?: unknown
  body?: BodyInit
  headers?: Record<string, string>
  /** The country that Cloudflare says the request came from. */
  country?: string
  /** Bindings that replace the real ones; an undefined one is taken away. */
  bindings?: Partial<Env>
}

/** Sends one request to the Worker's own fetch handler, and waits for all that it leaves to `waitUntil`. */
export async function call<T = Json>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  const { response, rest } = await begin(path, options)
  const text = await response.text()
  await rest()
  const isJson = response.headers.get('Content-Type')?.includes('json')
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : null,
    text,
  }
}

let beforeCall: (() => Promise<unknown>) | undefined

/** Does something before each request that `work` sends: it may read what is stored then. */
export async function beforeEachCall<T>(first: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  beforeCall = first
  try {
    return await work()
  } finally {
    beforeCall = undefined
  }
}

/** As {@link call}, but returns with the response: `rest` waits for what the request left to `waitUntil`. */
export async function begin(path: string, options: RequestOptions = {}) {
  // A request begins at once if there is nothing to do: tests set the clock between two of them.
  if (beforeCall) await beforeCall()
  const ctx = createExecutionContext()
  const response = await worker.fetch(requestTo(path, options) as never, bindingsWith(options.bindings), ctx)
  return { response, rest: () => waitOnExecutionContext(ctx) }
}

/** A HEAD request. */
export function head(path: string, options: RequestOptions = {}): Promise<Answer> {
  return call(path, { ...options, method: 'HEAD' })
}

function requestTo(path: string, options: RequestOptions): Request {
  const { method = 'GET', token, project, json, headers, country } = options
  const all = new Headers({ 'CF-Connecting-IP': freshAddress(), ...headers })
  if (token) all.set('Authorization', `Bearer ${token}`)
  if (project) all.set('X-Project-Id', project)
  if (json !== undefined && !all.has('Content-Type')) all.set('Content-Type', 'application/json')
  const body = json === undefined ? options.body : JSON.stringify(json)
  return new Request(path.startsWith('http') ? path : ORIGIN + path, {
    method,
    headers: all,
    ...(body !== undefined && { body }),
    ...(country !== undefined && { cf: { country } }),
  })
}

/** The typed client, connected to the Worker's own fetch handler. */
export function client(token: string, project?: string) {
  return hc<App>(ORIGIN, {
    headers: {
      Authorization: `Bearer ${token}`,
      ...(project && { 'X-Project-Id': project }),
      'CF-Connecting-IP': freshAddress(),
    },
    fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
      const ctx = createExecutionContext()
      const response = await worker.fetch(new Request(input as string, init) as never, bound, ctx)
      await waitOnExecutionContext(ctx)
      return response
    },
  })
}

/** Hands messages to the Worker's own queue handler, as one batch. */
export async function drain(bodies: unknown[], bindings?: Partial<Env>, queue = queueOf(STORE_NUMBER)) {
  const batch = createMessageBatch(
    queue,
    bodies.map((body, index) => ({ id: `message-${index}`, timestamp: new Date(), attempts: 1, body })),
  )
  const ctx = createExecutionContext()
  await worker.queue(batch as never, bindingsWith(bindings), ctx)
  return getQueueResult(batch as never, ctx)
}
