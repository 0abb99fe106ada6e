import * as z from 'zod'
import { writeLog } from '../http/log'
import type { EventKey } from './process/claim'

/** An event for the consumer: ids, never payloads or secrets. */
export const EventMessage = z.object({
  project_id: z.string(),
  event_id: z.string(),
  /** Set by the sweep: the trigger of the event's first attempt. */
  via: z.literal('sweep').optional(),
})
export type EventMessage = z.infer<typeof EventMessage>

/** An event whose object is to be fetched, for the queue of fetches. */
export const FetchEventMessage = z.object({ what: z.literal('event'), ...EventMessage.shape })
export type FetchEventMessage = z.infer<typeof FetchEventMessage>

/** A delivery that was verified while D1 was out. The consumer records it first, and only while its secret is live. */
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
      // Absent in messages of earlier versions.
      content_digest: z.string().nullable().default(null),
    }),
  ),
  body: z.instanceof(Uint8Array),
})
export type SpooledMessage = z.infer<typeof SpooledMessage>

/** Sends a delivery to the consumer. @throws where the Queue does not take it */
export async function sendSpooled(queue: Queue<unknown>, message: SpooledMessage, delaySeconds = 0): Promise<void> {
  await queue.send(message, { contentType: 'v8', delaySeconds })
}

/** As {@link sendEvents}. If the Queue does not take them, the sweep finds them. */
export async function sendOrLeave(
  queue: Queue<unknown>,
  keys: readonly EventKey[],
  options: { perSecond?: number } = {},
): Promise<void> {
  try {
    await sendEvents(queue, keys, options)
  } catch (error) {
    writeLog('warn', 'queue_send_failed', { events: keys.length, error: String(error) })
  }
}

/** Messages that one `sendBatch` takes. */
const MESSAGES_AT_ONCE = 100

/**
 * Sends events to a consumer.
 *
 * @param options `perSecond`: how many are sent a second; by default all at once. `what`: for the queue of fetches
 * @throws where the Queue does not take them
 */
export async function sendEvents(
  queue: Queue<unknown>,
  keys: readonly EventKey[],
  { via, perSecond, what }: { via?: 'sweep'; perSecond?: number; what?: 'event' } = {},
): Promise<void> {
  for (let i = 0; i < keys.length; i += MESSAGES_AT_ONCE) {
    const messages = keys.slice(i, i + MESSAGES_AT_ONCE).map(({ project_id, event_id }) => ({
      body: { ...(what && { what }), project_id, event_id, ...(via && { via }) } satisfies EventMessage,
      contentType: 'json' as const,
    }))
    await queue.sendBatch(messages, { delaySeconds: perSecond === undefined ? 0 : Math.floor(i / perSecond) })
  }
}
