import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import worker from '../../../src'
import type { Env } from '../../../src/env'
import type { EventMessage, SpooledMessage } from '../../../src/inbox/messages'
import { bindingsWith, queueOf, STORE_NUMBER } from '../../harness'

export const FETCH_QUEUE = 'platform-api-fetches'
export const WATCH_QUEUE = 'platform-api-watchers'

/** What became of a message: acked, or to be delivered again. */
export type Settled = 'ack' | { delaySeconds: number }

/**
 * Hands a batch to the Worker's own queue handler, as the Queue does: the first of ack and retry holds, what a handler
 * returns without either is acked, what it throws over is delivered again. (`getQueueResult` keeps no delays.)
 */
export async function deliverBatch(
  bodies: readonly unknown[],
  bindings: Partial<Env> = {},
  queue = queueOf(STORE_NUMBER),
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
    await worker.queue({ queue, messages } as never, bindingsWith(bindings), ctx)
  } catch {
    thrown = true
  }
  await waitOnExecutionContext(ctx)
  return results.map((result) => result ?? (thrown ? { delaySeconds: 0 } : 'ack'))
}

/** What the Worker sends: an event's ids, or a spooled delivery. */
type Body = Partial<EventMessage & SpooledMessage>
export type Sent = { body: Body; delaySeconds: number; contentType: string | undefined; at: number }

/**
 * A Queue held in memory: delays are kept by the (moved) clock, bodies pass through their own encoding.
 *
 * @param most messages in a batch
 */
export function memoryQueue(name = queueOf(STORE_NUMBER), most = 100) {
  const sent: Sent[] = []
  let waiting: { body: Body; dueAt: number }[] = []
  const take = (body: unknown, options: QueueSendOptions | undefined) => {
    const { delaySeconds = 0, contentType } = options ?? {}
    const carried = contentType === 'v8' ? structuredClone(body) : JSON.parse(JSON.stringify(body))
    sent.push({ body: carried, delaySeconds, contentType, at: Date.now() })
    waiting.push({ body: carried, dueAt: Date.now() + delaySeconds * 1000 })
  }
  const EVENTS = {
    send: async (body: unknown, options?: QueueSendOptions) => take(body, options),
    sendBatch: async (messages: Iterable<MessageSendRequest>, options?: QueueSendBatchOptions) => {
      for (const { body, ...own } of messages) {
        take(body, { ...options, ...own } as QueueSendOptions)
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
        const due = waiting.filter(({ dueAt }) => dueAt <= Date.now()).slice(0, most)
        if (due.length === 0) break
        waiting = waiting.filter((message) => !due.includes(message))
        const results = await deliverBatch(
          due.map(({ body }) => body),
          [FETCH_QUEUE, WATCH_QUEUE].includes(name) ? bindings : { EVENTS, ...bindings },
          name,
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

/** Whether a message of the queue of fetches asks for this. */
export const isOf =
  (what: 'event' | 'import' | 'doubt') =>
  ({ body }: { body: unknown }): boolean =>
    (body as { what?: string }).what === what
