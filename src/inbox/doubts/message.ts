import * as z from 'zod'
import { sendFetches } from '../fetches/send'

/** A project whose objects in doubt are to be asked for. Its rows say which ones. */
export const DoubtMessage = z.object({ what: z.literal('doubt'), project_id: z.string() })
export type DoubtMessage = z.infer<typeof DoubtMessage>

/** Sends a message for each project. @throws where the Queue does not take them: the cron sends them then */
export async function sendDoubts(
  queue: Queue<unknown>,
  projects: readonly string[],
  delaySeconds: number,
): Promise<void> {
  const messages = projects.map((project_id): DoubtMessage => ({ what: 'doubt', project_id }))
  await sendFetches(queue, messages, delaySeconds)
}
