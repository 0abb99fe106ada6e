import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { SpooledMessage, sendSpooled } from '../messages'

/** How long a message rests before it goes round again, in seconds. */
const REST_S = 600

/**
 * The dead-letter queue's consumer. What ends there has met a long failure of ours, not one of its own: it is sent
 * round again, and is acked only once the main queue has it.
 */
export async function resendDead(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  for (const message of batch.messages) {
    try {
      const spooled = SpooledMessage.safeParse(message.body)
      if (spooled.success) await sendSpooled(rt.events, spooled.data, REST_S)
      else await rt.events.send(message.body, { contentType: 'json', delaySeconds: REST_S })
      message.ack()
    } catch (error) {
      writeLog('error', 'dead_letter_not_resent', { message_id: message.id, error: String(error) })
      message.retry({ delaySeconds: REST_S })
    }
  }
  writeLog('warn', 'dead_letters', { messages: batch.messages.length })
}
