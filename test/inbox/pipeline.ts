import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test'
import { expect, vi } from 'vitest'
import worker from '../../src'
import type { Env } from '../../src/env'
import { FINAL_STATUSES, STATUSES } from '../../src/inbox/lifecycle'
import { hex, hmac, utf8 } from '../../src/lib/crypto'
import { idTime } from '../../src/lib/ids'
import { MINUTE } from '../../src/lib/time'
import { type Answer, bound, call, deliver, freshKey, type RequestOptions, stripeConnection } from '../harness'

/*
 * The pipeline under test, with the parts that fail in the world made to fail at will: D1 trip by trip, the Queue
 * message by message, and time. Everything else is real: the Worker's handlers, D1 and its transactions.
 */

/** One call of D1: a statement, or a batch. */
export type Trip = { index: number; sql: string; run: () => Promise<D1Result[]> }
export type Tamper = (trip: Trip) => Promise<D1Result[]>

/** The real D1, every call of which goes through `tamper`, which runs it, or does not, or says that it did not. */
export function tamperedD1(tamper: Tamper): D1Database {
  let trips = 0
  const wrap = (query: string, statement: D1PreparedStatement): any => ({
    query,
    real: statement,
    bind: (...values: unknown[]) => wrap(query, statement.bind(...values)),
    all: async () => {
      const [result] = await tamper({ index: trips++, sql: query, run: async () => [await statement.all()] })
      return result
    },
  })
  return {
    prepare: (query: string) => wrap(query, bound.DB.prepare(query)),
    batch: (statements: any[]) =>
      tamper({
        index: trips++,
        sql: statements.map(({ query }) => query).join(';\n'),
        run: () => bound.DB.batch(statements.map(({ real }) => real)),
      }),
  } as unknown as D1Database
}

export const LOST = 'D1_ERROR: Network connection lost.'
/** `before`: it did not happen. `after`: it happened, and the answer was lost. */
export const MODES = ['before', 'after'] as const
export type Mode = (typeof MODES)[number]

export async function fail(trip: Trip, mode: Mode): Promise<never> {
  if (mode === 'after') await trip.run()
  throw new Error(LOST)
}

/** D1 whose calls fail where `hits` says so. */
export function failingAt(hits: (trip: Trip) => boolean, mode: Mode): D1Database {
  return tamperedD1((trip) => (hits(trip) ? fail(trip, mode) : trip.run()))
}

/** D1 that is out until further notice. */
export const D1_OUT = failingAt(() => true, 'before')

/** A Queue that refuses every message. */
export const QUEUE_OUT = {
  send: async () => {
    throw new Error('Queue is overloaded. Please back off.')
  },
  sendBatch: async () => {
    throw new Error('Queue is overloaded. Please back off.')
  },
} as unknown as Queue<unknown>

/** What became of a message: acked, or to be delivered again. */
export type Settled = 'ack' | { delaySeconds: number }

/**
 * Hands a batch to the Worker's own queue handler, as the Queue does: the first of ack and retry holds, what a handler
 * returns without either is acked, what it throws over is delivered again. (`getQueueResult` keeps no delays.)
 */
export async function deliverBatch(
  bodies: readonly unknown[],
  bindings: Partial<Env> = {},
  queue = 'platform-api-events',
): Promise<Settled[]> {
  const results: (Settled | undefined)[] = bodies.map(() => undefined)
  const messages = bodies.map((body, index) => ({
    id: `message-${index}`,
    timestamp: new Date(),
    attempts: 1,
    body,
    ack: () => {
      results[index] ??= 'ack'
    },
    retry: ({ delaySeconds = 0 }: QueueRetryOptions = {}) => {
      results[index] ??= { delaySeconds }
    },
  }))
  const ctx = createExecutionContext()
  let thrown = false
  try {
    await worker.queue({ queue, messages } as never, { ...bound, ...bindings } as Env, ctx)
  } catch {
    thrown = true
  }
  await waitOnExecutionContext(ctx)
  return results.map((result) => result ?? (thrown ? { delaySeconds: 0 } : 'ack'))
}

export type Sent = { body: any; delaySeconds: number; contentType: string | undefined; at: number }

/** A Queue held in memory: delays are kept by the (moved) clock, bodies pass through their own encoding. */
export function memoryQueue() {
  const sent: Sent[] = []
  let waiting: { body: any; dueAt: number }[] = []
  const take = (body: unknown, options: QueueSendOptions | undefined) => {
    const { delaySeconds = 0, contentType } = options ?? {}
    const carried = contentType === 'v8' ? structuredClone(body) : JSON.parse(JSON.stringify(body))
    sent.push({ body: carried, delaySeconds, contentType, at: Date.now() })
    waiting.push({ body: carried, dueAt: Date.now() + delaySeconds * 1000 })
  }
  const EVENTS = {
    send: async (body: unknown, options?: QueueSendOptions) => take(body, options),
    sendBatch: async (messages: Iterable<MessageSendRequest>, options?: QueueSendBatchOptions) => {
      for (const { body, contentType } of messages) {
        take(body, { ...options, ...(contentType && { contentType }) } as QueueSendOptions)
      }
    },
  } as unknown as Queue<unknown>
  return {
    EVENTS,
    sent,
    /** Messages not delivered yet. */
    waiting: () => waiting,
    /** Loses every message that is on its way. */
    lose: () => {
      waiting = []
    },
    /**
     * Delivers what is due in batches, as the Queue does; what is to be retried waits again.
     *
     * @param killed says, after a batch, whether its worker was killed: then nothing of it was acked
     */
    async pump(bindings: Partial<Env> = {}, { batches = 100, killed = (): boolean => false } = {}): Promise<number> {
      let done = 0
      for (; done < batches; done++) {
        const due = waiting.filter(({ dueAt }) => dueAt <= Date.now()).slice(0, 100)
        if (due.length === 0) break
        waiting = waiting.filter((message) => !due.includes(message))
        const results = await deliverBatch(
          due.map(({ body }) => body),
          { EVENTS, ...bindings },
        )
        for (const [index, message] of due.entries()) {
          const result = killed() ? { delaySeconds: 0 } : results[index]
          if (result !== 'ack')
            waiting.push({ body: message.body, dueAt: Date.now() + (result?.delaySeconds ?? 0) * 1000 })
        }
      }
      return done
    },
  }
}
export type MemoryQueue = ReturnType<typeof memoryQueue>

/** Stops the clock that the Worker reads. {@link advance} moves it. */
export function stopClock(at = Date.now()): number {
  vi.useFakeTimers({ toFake: ['Date'], now: at })
  return at
}

export function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms)
}

/** The cron's handler, now or at a given time. */
export async function cron(bindings: Partial<Env> = {}, at = Date.now()): Promise<void> {
  const ctx = createExecutionContext()
  const controller = createScheduledController({ scheduledTime: new Date(at), cron: '* * * * *' })
  await worker.scheduled(controller as never, { ...bound, ...bindings } as Env, ctx)
  await waitOnExecutionContext(ctx)
}

export type World = Awaited<ReturnType<typeof newWorld>>

/** A fresh project with a Stripe connection and a Queue of its own. */
export async function newWorld() {
  const { project, owner, secret: token, key } = await freshKey()
  const connection = await stripeConnection(token, project)
  const queue = memoryQueue()
  return {
    project,
    owner,
    token,
    key,
    connection,
    queue,
    /** A delivery of Stripe's, its message kept by the memory Queue. */
    send: (event: unknown, { bindings, ...options }: Parameters<typeof deliver>[2] = {}) =>
      deliver(connection.id, event, { ...options, bindings: { EVENTS: queue.EVENTS, ...bindings } }),
    /** A request to the project's API. */
    api: (path: string, { bindings, ...options }: RequestOptions = {}): Promise<Answer> =>
      call(`/platform/v1/billing${path}`, {
        token,
        project,
        ...options,
        bindings: { EVENTS: queue.EVENTS, ...bindings },
      }),
    event: async (id: string): Promise<any> =>
      (await call(`/platform/v1/billing/webhooks/${id}`, { token, project })).body,
    attempts: async (id: string): Promise<any[]> =>
      (await call(`/platform/v1/billing/webhooks/${id}/attempts`, { token, project })).body.data,
    replay: (id: string, options: RequestOptions = {}): Promise<Answer> =>
      call(`/platform/v1/billing/webhooks/${id}/replay`, {
        method: 'POST',
        token,
        project,
        ...options,
        bindings: { EVENTS: queue.EVENTS, ...options.bindings },
      }),
  }
}

export async function rows<T = any>(sql: string, ...values: unknown[]): Promise<T[]> {
  return (
    await bound.DB.prepare(sql)
      .bind(...values)
      .all<T>()
  ).results
}

/** The one event of a project, as it is stored. */
export async function stored(project: string): Promise<any[]> {
  return rows('SELECT * FROM events WHERE project_id = ? ORDER BY id', project)
}

/**
 * Lets time pass, with the cron and the consumer at work, until nothing of the project is open and no message is on
 * its way. The clock has to be stopped.
 */
export async function settle({ project, queue }: Pick<World, 'project' | 'queue'>, rounds = 60): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await queue.pump()
    const open = await rows<{ due_at: number; lease_until: number | null }>(
      'SELECT due_at, lease_until FROM events WHERE project_id = ? AND due_at IS NOT NULL',
      project,
    )
    const next = [
      ...open.map(({ due_at, lease_until }) => Math.max(due_at, lease_until ?? 0)),
      ...queue.waiting().map(({ dueAt }) => dueAt),
    ]
    if (next.length === 0) return
    advance(Math.max(1000, Math.min(...next) - Date.now()))
    await cron({ EVENTS: queue.EVENTS })
  }
  throw new Error(`still open after ${rounds} rounds: ${JSON.stringify(await stored(project))}`)
}

/** Lines that the Worker logs from here on. */
export function captureLog() {
  const lines: any[] = []
  for (const method of ['log', 'error'] as const) {
    vi.spyOn(console, method).mockImplementation((line) => void lines.push(JSON.parse(String(line))))
  }
  return { lines, of: (event: string) => lines.filter((line) => line.event === event) }
}

/** A GoCardless delivery of thin events, signed: https://developer.gocardless.com/api-reference/#webhooks-overview */
export async function sendGocardless(
  { project, token, queue }: Pick<World, 'project' | 'token' | 'queue'>,
  connection: string,
  ids: string[],
  bindings: Partial<Env> = {},
) {
  const body = JSON.stringify({
    events: ids.map((id) => ({
      id,
      created_at: '2026-01-01T00:00:00.000Z',
      resource_type: 'payments',
      action: 'confirmed',
      links: { payment: `PM_${id}` },
    })),
  })
  return call(`/ingest/${connection}`, {
    method: 'POST',
    body,
    token,
    project,
    headers: { 'Webhook-Signature': hex(await hmac('SHA-256', utf8(GOCARDLESS_SECRET), body)) },
    bindings: { EVENTS: queue.EVENTS, ...bindings },
  })
}
export const GOCARDLESS_SECRET = 'a-gocardless-endpoint-secret'

export async function gocardlessConnection({ api }: Pick<World, 'api'>): Promise<string> {
  const json = { vendor: 'gocardless', name: 'GoCardless', signing_secret: GOCARDLESS_SECRET }
  const { body } = await api('/connections', { method: 'POST', json })
  return body.id
}

const FINAL: readonly string[] = FINAL_STATUSES
const SUCCESS = ['processed', 'ignored']

/**
 * What has to hold of a project at any moment: rows, attempts, totals, rollups, refs and payloads tell the same story,
 * and no effect has happened twice.
 */
export async function expectConsistent(project: string): Promise<void> {
  const wrong: string[] = []
  const same = (what: string, actual: unknown, wanted: unknown) => {
    const [is, was] = [JSON.stringify(actual), JSON.stringify(wanted)]
    if (is !== was) wrong.push(`${what}: ${is}, expected ${was}`)
  }
  const [events, attempts, totals, minutes, refs, payloads] = await Promise.all([
    stored(project),
    rows(
      'SELECT a.* FROM attempts a WHERE a.event_id IN (SELECT id FROM events WHERE project_id = ?) ORDER BY a.event_id, a.number',
      project,
    ),
    rows('SELECT * FROM totals WHERE project_id = ?', project),
    rows('SELECT * FROM minutes WHERE project_id = ?', project),
    rows('SELECT * FROM refs WHERE project_id = ?', project),
    rows('SELECT id FROM payloads WHERE project_id = ?', project),
  ])
  const attemptsOf = Map.groupBy(attempts, (row) => row.event_id)
  const refsOf = Map.groupBy(refs, (row) => row.event_id)

  // Totals are the counts of final events, and of nothing else.
  for (const status of STATUSES) {
    const kept = totals.find((row) => row.status === status)?.n ?? 0
    const counted = FINAL.includes(status) ? events.filter((event) => event.status === status).length : 0
    same(`total of ${status}`, kept, counted)
  }
  // A vendor's event is one row, and its payload is there, once.
  same(
    'distinct events',
    new Set(events.map((row) => `${row.connection_id} ${row.vendor_event_id}`)).size,
    events.length,
  )
  const payloadsOf = new Set(events.map((row) => row.payload_id))
  same('payloads', payloads.map(({ id }) => id).sort(), [...payloadsOf].sort())

  const expected = new Map<string, Record<string, number>>()
  for (const event of events) {
    const of = `of ${event.id} (${event.status})`
    const own = attemptsOf.get(event.id) ?? []
    const last = own.at(-1)
    const final = FINAL.includes(event.status)
    const running = event.status === 'processing'
    same(`due_at null ${of}`, event.due_at === null, final)
    same(`lease ${of}`, [event.lease_token !== null, event.lease_until !== null], [running, running])
    if (final) same(`next_attempt_at ${of}`, event.next_attempt_at, null)
    if (event.status === 'retrying') same(`next_attempt_at set ${of}`, event.next_attempt_at !== null, true)
    // Every claim is an attempt; the one that is running has no row yet.
    const numbers = Array.from({ length: running ? event.attempts - 1 : event.attempts }, (_, index) => index + 1)
    same(
      `attempts ${of}`,
      own.map((row) => row.number),
      numbers,
    )
    if (!running) {
      same(`last_error set ${of}`, event.last_error !== null, last !== undefined && !SUCCESS.includes(last.outcome))
      if (last) same(`last_error ${of}`, event.last_error, last.error)
    }
    if (final) same(`last outcome ${of}`, last?.outcome, event.status)
    const done = own.filter((row) => SUCCESS.includes(row.outcome))
    same(`processed_at ${of}`, event.processed_at, done[0]?.finished_at ?? null)
    if (event.replay_id === null && done.length > 1) wrong.push(`${done.length} successful attempts ${of}`)
    same(`summary set ${of}`, event.summary !== null, done.length > 0)
    const wanted: string[] = event.summary === null ? [] : JSON.parse(event.summary).refs
    same(`refs ${of}`, (refsOf.get(event.id) ?? []).map((row) => row.ref).sort(), wanted.toSorted())

    const key = `${Math.floor(idTime(event.id) / MINUTE)} ${event.connection_id}`
    const minute = expected.get(key) ?? { ...NO_MINUTE }
    expected.set(key, minute)
    const add = (name: string, n: number) => {
      minute[name] = (minute[name] ?? 0) + n
    }
    add('received', 1)
    // First completions alone: what a replay came to moves no rollup.
    const first = own.find((row) => FINAL.includes(row.outcome))
    if (first) add(first.outcome, 1)
    if (first && SUCCESS.includes(first.outcome)) {
      const lag = Math.max(0, first.finished_at - idTime(event.id))
      add('in_histogram', 1)
      add('lag_sum', lag)
      minute.lag_max = Math.max(minute.lag_max ?? 0, lag)
    }
  }
  const shown = new Map<string, Record<string, number>>()
  for (const { minute, connection_id, received, processed, ignored, failed, lag, lag_sum, lag_max } of minutes) {
    const in_histogram = Object.values<number>(JSON.parse(lag)).reduce((sum, value) => sum + value, 0)
    const entry = { received, processed, ignored, failed, in_histogram, lag_sum, lag_max }
    // A minute may be there for its duplicates or refusals alone.
    if (Object.values(entry).some((value) => value !== 0)) shown.set(`${minute} ${connection_id}`, entry)
  }
  same('minutes', [...shown].sort(), [...expected].sort())
  const sum = (list: any[], pick: (row: any) => number) => list.reduce((total, row) => total + pick(row), 0)
  same(
    'duplicates',
    sum(minutes, (row) => row.duplicates),
    sum(events, (row) => row.deliveries - 1),
  )
  const ids = new Set(events.map(({ id }) => id))
  same(
    'refs of no event',
    refs.filter((row) => !ids.has(row.event_id)),
    [],
  )
  expect(wrong).toEqual([])
}

const NO_MINUTE = { received: 0, processed: 0, ignored: 0, failed: 0, in_histogram: 0, lag_sum: 0, lag_max: 0 }
