import * as z from 'zod'
import { notBound, type Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { measure } from '../../http/measure'
import { storeOfProject } from '../../lib/ids'
import { addToState } from '../../stores/state'
import { SpooledMessage, sendSpooled } from '../messages'
import { DEAD_LETTER_WAIT_S } from './limits'

const OfProject = z.object({ project_id: z.string() })

/**
 * The dead-letter queue's consumer. A message ends up there because the service was down for a long time, not because
 * of its contents: it goes back to the queue of its project's store, and is acked only once it is there.
 */
export async function resendDead(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  for (const message of batch.messages) {
    try {
      const spooled = SpooledMessage.safeParse(message.body)
      const { events } = homeOf(rt, message.body)
      if (spooled.success) await sendSpooled(events, spooled.data, DEAD_LETTER_WAIT_S)
      else await events.send(message.body, { contentType: 'json', delaySeconds: DEAD_LETTER_WAIT_S })
      message.ack()
    } catch (error) {
      writeLog('error', 'dead_letter_not_resent', { message_id: message.id, error: String(error) })
      message.retry({ delaySeconds: DEAD_LETTER_WAIT_S })
    }
  }
  const messages = batch.messages.length
  writeLog('warn', 'dead_letters', { messages })
  measure(rt, 'dead_letters', { messages })
  try {
    await addToState(rt.directory, 'dead_letters', messages)
  } catch (error) {
    // Messages die when the database is out for long, so the log and the metric have the number too.
    writeLog('warn', 'dead_letters_not_counted', { messages, error: String(error) })
  }
}

/**
 * The runtime at the store of a message's project. A message that does not name a project is not one of ours. It goes
 * to store 0, whose consumer reports it.
 *
 * @throws {Fault} `not_configured` if that store is not bound
 */
function homeOf(rt: Runtime, body: unknown): Runtime {
  const named = OfProject.safeParse(body)
  const store = (named.success ? storeOfProject(named.data.project_id) : null) ?? 0
  const home = rt.at(store)
  if (!home) throw notBound(store)
  return home
}
