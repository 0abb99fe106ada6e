import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { measure } from '../../http/measure'
import { SpooledMessage, sendSpooled } from '../messages'
import { addToState } from '../upkeep/store'
import { DEAD_LETTER_WAIT_S } from './limits'

/**
 * The dead-letter queue's consumer. A message ends up there because the service was down for a long time, not because
 * of its contents: it goes back to the main queue, and is acked only once it is there.
 */
export async function resendDead(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  for (const message of batch.messages) {
    try {
      const spooled = SpooledMessage.safeParse(message.body)
      if (spooled.success) await sendSpooled(rt.events, spooled.data, DEAD_LETTER_WAIT_S)
      else await rt.events.send(message.body, { contentType: 'json', delaySeconds: DEAD_LETTER_WAIT_S })
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
    await addToState(rt.db, 'dead_letters', messages)
  } catch (error) {
    // Messages die when the database is out for long, so the log and the metric have the number too.
    writeLog('warn', 'dead_letters_not_counted', { messages, error: String(error) })
  }
}
