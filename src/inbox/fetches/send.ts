import { within } from '../../lib/within'
import { SEND_WITHIN_MS } from '../process/limits'

/** Messages that one `sendBatch` takes. */
const MESSAGES_AT_ONCE = 100

/** Sends messages to the queue of fetches. @throws where the Queue does not take them: the cron sends them then */
export async function sendFetches(
  queue: Queue<unknown>,
  bodies: readonly { what: string; project_id: string }[],
  delaySeconds = 0,
): Promise<void> {
  for (let i = 0; i < bodies.length; i += MESSAGES_AT_ONCE) {
    const messages = bodies.slice(i, i + MESSAGES_AT_ONCE).map((body) => ({ body, contentType: 'json' as const }))
    await within(SEND_WITHIN_MS, queue.sendBatch(messages, { delaySeconds }))
  }
}
