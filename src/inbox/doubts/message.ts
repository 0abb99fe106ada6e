import * as z from 'zod'
import { within } from '../../lib/within'
import { SEND_WITHIN_MS } from '../process/limits'

/** A project whose objects in doubt are to be asked for. Its rows say which ones. */
export const DoubtMessage = z.object({ what: z.literal('doubt'), project_id: z.string() })
export type DoubtMessage = z.infer<typeof DoubtMessage>

/** Messages that one `sendBatch` takes. */
const MESSAGES_AT_ONCE = 100

/** Sends a message for each project. @throws where the Queue does not take them: the cron sends them then */
export async function sendDoubts(
  queue: Queue<unknown>,
  projects: readonly string[],
  delaySeconds: number,
): Promise<void> {
  for (let i = 0; i < projects.length; i += MESSAGES_AT_ONCE) {
    const messages = projects.slice(i, i + MESSAGES_AT_ONCE).map((project_id) => ({
      body: { what: 'doubt', project_id } satisfies DoubtMessage,
      contentType: 'json' as const,
    }))
    await within(SEND_WITHIN_MS, queue.sendBatch(messages, { delaySeconds }))
  }
}
