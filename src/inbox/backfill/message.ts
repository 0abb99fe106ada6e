import * as z from 'zod'
import { sendFetches } from '../fetches/send'

/** A look at the events of a connection's vendor. Its row says how far it has come. */
export const BackfillMessage = z.object({
  what: z.literal('backfill'),
  project_id: z.string(),
  connection_id: z.string(),
})
export type BackfillMessage = z.infer<typeof BackfillMessage>
export type BackfillKey = Omit<BackfillMessage, 'what'>

/** Asks for looks at connections. @throws if the Queue does not accept it. Then the cron asks again */
export async function sendBackfills(
  queue: Queue<unknown>,
  keys: readonly BackfillKey[],
  delaySeconds = 0,
): Promise<void> {
  const messages = keys.map(
    ({ project_id, connection_id }): BackfillMessage => ({ what: 'backfill', project_id, connection_id }),
  )
  await sendFetches(queue, messages, delaySeconds)
}
