import { Webhook } from 'standardwebhooks'
import type * as z from 'zod'
import type { AttemptRun, Delivery } from '../../src/endpoints/delivery-fields'
import type { Env } from '../../src/env'
import type { webhookEndpoints } from '../../src/followers/schema'
import { bePatient } from '../clock'
import { clocked } from '../entitlements/world'
import { call, newHost, type RequestOptions, seenBy, setHost, stripeEvent, type tampered } from '../harness'
import type { Json } from '../harness/json'
import { tampered as tamperedStore } from '../harness/stand-ins'
import { everyD1 } from '../harness/stores'
import { cron, deliverBatch, newWorld, rows } from '../inbox/pipeline'
import type { Seen } from '../outside/hosts'
import type { Plain } from '../outside/plain'

export type HooksWorld = Awaited<ReturnType<typeof hooksWorld>>
type Attempt = z.infer<typeof AttemptRun>['attempts'][0]
type Parked = z.infer<typeof Delivery>
/** What a server gets: the body of a Standard Webhooks message. */
export type Message = {
  type: string
  timestamp: string
  data: { id: string; number: number; at: string; object: { id: string }; current?: Json | null } & Json
}

type Waiting = { queue: string; body: unknown; dueAt: number }
const QUEUES = { DELIVERIES: 'platform-api-deliveries', SLOW_DELIVERIES: 'platform-api-slow-deliveries' }

/** Both queues of endpoints, held in memory. Their consumers take one message each, side by side. */
export function endpointQueues() {
  let waiting: Waiting[] = []
  const sent: Waiting[] = []
  const queueOf = (queue: string) =>
    ({
      sendBatch: async (messages: Iterable<MessageSendRequest>, { delaySeconds = 0 }: QueueSendBatchOptions = {}) => {
        for (const { body } of messages) {
          const message = { queue, body, dueAt: Date.now() + delaySeconds * 1000 }
          waiting.push(message)
          sent.push(message)
        }
      },
    }) as unknown as Queue<unknown>
  return {
    bindings: { DELIVERIES: queueOf(QUEUES.DELIVERIES), SLOW_DELIVERIES: queueOf(QUEUES.SLOW_DELIVERIES) },
    sent,
    waiting: () => waiting,
    lose: () => {
      waiting = []
    },
    /** Lets the consumers do what they have messages for, until none is due. @param rounds at most so many */
    async pump(bindings: Partial<Env> = {}, rounds = 200): Promise<void> {
      for (let round = 0; round < rounds; round++) {
        const due = waiting.filter(({ dueAt }) => dueAt <= Date.now())
        if (due.length === 0) return
        waiting = waiting.filter((message) => !due.includes(message))
        await Promise.all(due.map(({ queue, body }) => deliverBatch([body], bindings, queue)))
      }
    },
  }
}

/** D1 whose own clock is the test's. @param tamper comes between each of its calls */
export function hookedD1(tamper: Parameters<typeof tampered>[1] = (trip) => trip.run()): D1Database {
  return everyD1((real) => tamperedStore(clocked(real), tamper))
}

/**
 * A project whose calls, events, cron and endpoints have the clock of the test, which must be stopped. With `impatient`, the Worker's normal
 * timeouts apply.
 */
export async function hooksWorld(impatient?: 'impatient') {
  if (!impatient) bePatient()
  const inbox = await newWorld()
  const { project, token } = inbox
  const queues = endpointQueues()
  const bindings = { DB: hookedD1(), EVENTS: inbox.queue.EVENTS, ...queues.bindings }
  const ask = (method: string, path: string, json?: unknown, options: RequestOptions = {}) =>
    call(`/platform/v1/${path}`, { method, project, token, bindings, ...options, ...(json !== undefined && { json }) })
  /** @throws if the answer is an error */
  const must = async (method: string, path: string, json?: unknown) => {
    const { status, body, text } = await ask(method, path, json)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return body
  }
  let made = 0
  return {
    ...inbox,
    bindings,
    queues,
    ask,
    must,
    /** Makes so many changes: consumers are created. @returns their ids */
    async change(n = 1): Promise<string[]> {
      const ids: string[] = []
      for (let i = 0; i < n; i++) {
        made += 1
        ids.push((await must('PUT', `consumers/ext:u${made}`, {})).id)
      }
      return ids
    },
    /** An event of Stripe's about an object, which is processed. */
    async happens(type: string, object: object) {
      made += 1
      const event = { ...stripeEvent(type, { ...object }), created: Math.floor(Date.now() / 1000) + made }
      await inbox.send(event, { bindings })
      await inbox.queue.pump(bindings)
    },
    pump: (more: Partial<Env> = {}) => queues.pump({ ...bindings, ...more }),
    cron: () => cron(bindings),
    /** A server, and an endpoint that leads to it. */
    async endpoint(answer: Plain = {}, fields: object = {}) {
      const server = await newServer(answer)
      const { endpoint, secret } = await must('POST', 'webhook-endpoints', {
        url: server.url,
        types: ['consumer.*'],
        ...fields,
      })
      const path = `webhook-endpoints/${endpoint.id}`
      return {
        ...server,
        id: endpoint.id as string,
        secret: secret as string,
        path,
        get: () => must('GET', path),
        attempts: async () =>
          (await must('GET', `${path}/attempts?limit=100`)).data.flatMap(
            (run: { attempts: Attempt[] }) => run.attempts,
          ) as Attempt[],
        deliveries: async () => (await must('GET', `${path}/deliveries?limit=100`)).data as unknown as Parked[],
        row: async () =>
          (
            await rows('SELECT * FROM webhook_endpoints WHERE id = ?', endpoint.id)
          )[0] as typeof webhookEndpoints.$inferSelect,
      }
    },
  }
}

/** A server outside, and what it has received. */
export async function newServer(answer: Plain = {}) {
  const host = newHost('plain.dev')
  let current = answer
  const answers = (plain: Plain) => {
    current = plain
    return setHost(host, { '/hook': plain })
  }
  await answers(answer)
  return {
    host,
    url: `https://${host}/hook`,
    /** Sets how it answers from now on, and forgets what it has received. */
    answers,
    seen: () => seenBy(host),
    /** How it answers now. */
    current: () => current,
    got: async (): Promise<Message[]> => (await seenBy(host)).map(({ body }) => JSON.parse(body)),
  }
}

/** What was received, verified by the reference library. @throws if the signature is of another secret or body */
export function verified(secret: string, { body, headers }: Seen): Message {
  return new Webhook(secret).verify(body, headers) as Message
}
