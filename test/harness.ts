import { createExecutionContext, createMessageBatch, getQueueResult, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { hc } from 'hono/client'
import worker from '../src'
import type { App } from '../src/app'
import type { Env } from '../src/env'
import type { Role } from '../src/lib/access'
import { hex, hmac, sha256Hex, utf8 } from '../src/lib/crypto'
import { newId } from '../src/lib/ids'
import { newSessionToken } from '../src/sessions/secret'

/** The address that the tests' requests go to. */
export const ORIGIN = 'https://platform.test'

let addresses = 0
/** A network address nobody else in the tests has: limits are per address. */
export function freshAddress(): string {
  addresses += 1
  return `2001:db8::${Math.floor(addresses / 65536).toString(16)}:${(addresses % 65536).toString(16)}`
}

export type Answer = { status: number; headers: Headers; body: any; text: string }

export type RequestOptions = {
  method?: string
  token?: string | null
  project?: string | null
  json?: unknown
  body?: BodyInit
  headers?: Record<string, string>
  /** Bindings to put in the place of the real ones. */
  bindings?: Partial<Env>
}

/** One request through the Worker's own fetch handler, with everything it left to waitUntil done. */
export async function call(path: string, options: RequestOptions = {}): Promise<Answer> {
  const { method = 'GET', token, project, json, body, headers = {}, bindings } = options
  const all = new Headers({ 'CF-Connecting-IP': freshAddress(), ...headers })
  if (token) all.set('Authorization', `Bearer ${token}`)
  if (project) all.set('X-Project-Id', project)
  if (json !== undefined && !all.has('Content-Type')) all.set('Content-Type', 'application/json')
  const payload = json === undefined ? body : JSON.stringify(json)
  const request = new Request(path.startsWith('http') ? path : ORIGIN + path, {
    method,
    headers: all,
    ...(payload !== undefined && { body: payload }),
  })
  const ctx = createExecutionContext()
  const response = await worker.fetch(request as never, bindingsWith(bindings), ctx)
  const text = await response.text()
  await waitOnExecutionContext(ctx)
  const isJson = response.headers.get('Content-Type')?.includes('json')
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : null,
    text,
  }
}
/** The bindings of the deployment under test, without what only the tests are handed. */
export const bound = env as unknown as Env

function bindingsWith(bindings?: Partial<Env>): Env {
  return bindings ? ({ ...bound, ...bindings } as Env) : bound
}

/** The typed client, over the same door. */
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

/** A user with a live session, put into the database as signing in would; the tests of signing in go the long way. */
export async function signedIn(email = `${newId('usr', Date.now()).slice(-10)}@example.com`) {
  const now = Date.now()
  const user = newId('usr', now)
  const token = newSessionToken()
  await env.DB.batch([
    env.DB.prepare('INSERT INTO users (id, email, created_at) VALUES (?, ?, ?)').bind(user, email, now),
    env.DB.prepare(
      'INSERT INTO sessions (id, user_id, hash, created_at, expires_at, last_used_at) VALUES (?, ?, ?, ?, ?, ?)',
    ).bind(newId('ses', now), user, await sha256Hex(token), now, now + 12 * 3_600_000, now),
  ])
  return { user, email, token }
}

/** A fresh project with its owner, made through the API. */
export async function freshProject(name = 'Test') {
  const owner = await signedIn()
  const { body } = await call('/platform/v1/projects', { method: 'POST', token: owner.token, json: { name } })
  return { project: body.id as string, owner }
}

/** Makes someone a member, as inviting would. */
export async function addMember(project: string, role: Role) {
  const member = await signedIn()
  await env.DB.prepare('INSERT INTO members (project_id, user_id, role, created_at) VALUES (?, ?, ?, ?)')
    .bind(project, member.user, role, Date.now())
    .run()
  return member
}

/** Mints a key through the API. */
export async function mint(token: string, project: string, fields: Record<string, unknown> = {}) {
  const { status, body } = await call('/platform/v1/api-keys', {
    method: 'POST',
    token,
    project,
    json: { name: 'test key', ...fields },
  })
  if (status !== 201) throw new Error(`mint answered ${status}: ${JSON.stringify(body)}`)
  return body as { key: any; secret: string }
}

/** A fresh project with its owner and a key that may do everything. */
export async function freshKey() {
  const { project, owner } = await freshProject()
  const { key, secret } = await mint(owner.token, project)
  return { project, owner, key, secret }
}

export const STRIPE_SECRET = 'whsec_a_secret_that_only_the_tests_know'

/** A Stripe connection, made through the API. */
export async function stripeConnection(token: string, project: string, signing_secret = STRIPE_SECRET) {
  const { status, body } = await call('/platform/v1/billing/connections', {
    method: 'POST',
    token,
    project,
    json: { vendor: 'stripe', name: 'Stripe', signing_secret },
  })
  if (status !== 201) throw new Error(`connecting answered ${status}: ${JSON.stringify(body)}`)
  return body as { id: string; ingest_url: string; secrets: { id: string }[] }
}

let events = 0
/** A Stripe event in the shape of Stripe's published reference. */
export function stripeEvent(type = 'customer.subscription.updated', object: Record<string, unknown> = {}) {
  events += 1
  return {
    id: `evt_${Date.now()}${events}`,
    object: 'event',
    api_version: '2026-03-25.dahlia',
    created: Math.floor(Date.now() / 1000),
    livemode: false,
    type,
    data: { object: { id: `sub_${events}`, object: 'subscription', customer: 'cus_1', status: 'active', ...object } },
  }
}

/** A Stripe-Signature header, as test/webhooks/vendors holds it against Stripe's own SDK (slow to load in each file). */
export async function signStripe(payload: string, secret = STRIPE_SECRET, at = Math.floor(Date.now() / 1000)) {
  return `t=${at},v1=${hex(await hmac('SHA-256', utf8(secret), `${at}.`, payload))}`
}

/** Sends a delivery signed as Stripe signs. */
export async function deliver(
  connection: string,
  event: unknown,
  options: RequestOptions & { secret?: string; at?: number } = {},
) {
  const { secret = STRIPE_SECRET, at, ...rest } = options
  const payload = typeof event === 'string' ? event : JSON.stringify(event)
  const header = await signStripe(payload, secret, at)
  return call(`/ingest/${connection}`, {
    method: 'POST',
    body: payload,
    ...rest,
    headers: { 'Content-Type': 'application/json', 'Stripe-Signature': header, ...rest.headers },
  })
}

/** Hands messages to the Worker's own queue handler. */
export async function drain(bodies: unknown[], bindings?: Partial<Env>, queue = 'platform-api-events') {
  const batch = createMessageBatch(
    queue,
    bodies.map((body, index) => ({ id: `message-${index}`, timestamp: new Date(), attempts: 1, body })),
  )
  const ctx = createExecutionContext()
  await worker.queue(batch as never, bindingsWith(bindings), ctx)
  return getQueueResult(batch as never, ctx)
}

/** Reads an event until the consumer has finished it. */
export async function settled(project: string, token: string, id: string): Promise<any> {
  for (let i = 0; i < 100; i++) {
    const { body } = await call(`/platform/v1/billing/webhooks/${id}`, { project, token })
    if (['processed', 'ignored', 'failed'].includes(body.status)) return body
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`event ${id} did not settle`)
}

/** D1 that counts what it is asked for, in D1's own figures. */
export function countingD1() {
  const count = { trips: 0, statements: 0, rows_read: 0, rows_written: 0 }
  const add = (result: D1Result) => {
    count.rows_read += result.meta.rows_read
    count.rows_written += result.meta.rows_written
    return result
  }
  const real = env.DB
  const wrap = (statement: D1PreparedStatement): any => ({
    real: statement,
    bind: (...values: unknown[]) => wrap(statement.bind(...values)),
    all: async () => {
      count.trips += 1
      count.statements += 1
      return add(await statement.all())
    },
  })
  const DB = {
    prepare: (query: string) => wrap(real.prepare(query)),
    batch: async (statements: any[]) => {
      count.trips += 1
      count.statements += statements.length
      return (await real.batch(statements.map(({ real }) => real))).map(add)
    },
  } as unknown as D1Database
  return { DB, count }
}

/** Sends bytes as a delivery signed as Stripe signs: what a vendor sends need not be text. */
export async function deliverBytes(connection: string, bytes: Uint8Array<ArrayBuffer>, options: RequestOptions = {}) {
  const at = Math.floor(Date.now() / 1000)
  const signature = hex(await hmac('SHA-256', utf8(STRIPE_SECRET), `${at}.`, bytes))
  return call(`/ingest/${connection}`, {
    method: 'POST',
    body: bytes,
    ...options,
    headers: { 'Content-Type': 'application/json', 'Stripe-Signature': `t=${at},v1=${signature}`, ...options.headers },
  })
}

/** A Queue that takes every message and delivers none: what a lost message looks like. */
export function lossyQueue() {
  const sent: unknown[] = []
  const EVENTS = {
    send: async (body: unknown) => void sent.push(body),
    sendBatch: async (messages: Iterable<{ body: unknown }>) =>
      void sent.push(...[...messages].map(({ body }) => body)),
  } as unknown as Queue<unknown>
  return { EVENTS, sent }
}

/** D1 that fails with the given message, whatever it is asked. */
export function failingD1(message: string): D1Database {
  const fail = async () => {
    throw new Error(message)
  }
  const statement: any = { bind: () => statement, all: fail, first: fail, run: fail, raw: fail }
  return { prepare: () => statement, batch: fail, exec: fail } as unknown as D1Database
}

/** A HEAD request: an answer with the headers of JSON, and no body to read as such. */
export async function head(path: string, { token, project }: RequestOptions = {}) {
  const headers = new Headers({ 'CF-Connecting-IP': freshAddress() })
  if (token) headers.set('Authorization', `Bearer ${token}`)
  if (project) headers.set('X-Project-Id', project)
  const ctx = createExecutionContext()
  const response = await worker.fetch(new Request(ORIGIN + path, { method: 'HEAD', headers }) as never, bound, ctx)
  const text = await response.text()
  await waitOnExecutionContext(ctx)
  return { status: response.status, headers: response.headers, text }
}
