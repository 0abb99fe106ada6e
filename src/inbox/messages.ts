import * as z from 'zod'
import { microBatchers, type WaitUntil } from '../lib/micro-batch'
import { SECOND } from '../lib/time'
import type { EventKey } from './process/claim'

/** What the Queue carries: ids, never payloads or secrets. */
export const EventMessage = z.object({
  project_id: z.string(),
  event_id: z.string(),
  /** Set by the sweep: the first attempt's trigger is told from it. */
  via: z.literal('sweep').optional(),
})
export type EventMessage = z.infer<typeof EventMessage>

/** A delivery that was verified while D1 was out: it is recorded first, and only while its secret is live. */
export const SpooledMessage = z.object({
  spooled: z.literal(1),
  project_id: z.string(),
  connection_id: z.string(),
  secret_id: z.string(),
  payload_id: z.string(),
  received_at: z.number(),
  headers: z.record(z.string(), z.string()),
  events: z.array(
    z.object({
      id: z.string(),
      vendor_event_id: z.string(),
      event_type: z.string(),
      occurred_at: z.string().nullable(),
    }),
  ),
  body: z.instanceof(Uint8Array),
})
export type SpooledMessage = z.infer<typeof SpooledMessage>

/** @throws where the Queue does not take it */
export async function sendSpooled(queue: Queue<unknown>, message: SpooledMessage, delaySeconds = 0): Promise<void> {
  await queue.send(message, { contentType: 'v8', delaySeconds })
}

/** Messages a `sendBatch` takes. */
const BATCH = 100

/**
 * Sends events on their way to the consumer.
 *
 * @param options `perSecond` spreads them over time, from the first batch on
 * @throws where the Queue does not take them
 */
export async function sendEvents(
  queue: Queue<unknown>,
  keys: readonly EventKey[],
  { via, perSecond }: { via?: 'sweep'; perSecond?: number } = {},
): Promise<void> {
  for (let i = 0; i < keys.length; i += BATCH) {
    const messages = keys.slice(i, i + BATCH).map(({ project_id, event_id }) => ({
      body: { project_id, event_id, ...(via && { via }) } satisfies EventMessage,
      contentType: 'json' as const,
    }))
    await queue.sendBatch(messages, { delaySeconds: perSecond === undefined ? 0 : Math.floor(i / perSecond) })
  }
}

const SHARED = { most: BATCH, mostWeight: BATCH, waitMs: 5, answerMs: 10 * SECOND }
const batcherOf = microBatchers<readonly EventKey[], void>(SHARED)

/**
 * As {@link sendEvents}, for the events of a delivery: deliveries that come together share a call.
 *
 * @throws where the Queue does not take them
 */
export function sendShared(queue: Queue<unknown>, keys: readonly EventKey[], waitUntil: WaitUntil): Promise<void> {
  const all = async (parts: readonly (readonly EventKey[])[]) => {
    await sendEvents(queue, parts.flat())
    return parts.map(() => undefined)
  }
  return batcherOf(queue)(keys, keys.length, all, waitUntil)
}
