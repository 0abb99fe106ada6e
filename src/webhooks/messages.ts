import * as z from 'zod'
import type { EventKey } from './record/claim'

/** What the Queue carries: ids, never payloads or secrets. */
export const EventMessage = z.object({
  project_id: z.string(),
  event_id: z.string(),
  /** Set by the sweep: the first attempt's trigger is told from it. */
  via: z.literal('sweep').optional(),
})
export type EventMessage = z.infer<typeof EventMessage>

/** Messages a `sendBatch` takes. */
const BATCH = 100

/** Sends events on their way to the consumer. @throws where the Queue does not take them */
export async function sendEvents(queue: Queue<unknown>, keys: readonly EventKey[], via?: 'sweep'): Promise<void> {
  for (let i = 0; i < keys.length; i += BATCH) {
    const messages = keys.slice(i, i + BATCH).map(({ project_id, event_id }) => ({
      body: { project_id, event_id, ...(via && { via }) } satisfies EventMessage,
      contentType: 'json' as const,
    }))
    await queue.sendBatch(messages)
  }
}
