import { run } from '../../db/client'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { storeOfConnection } from '../../lib/ids'
import { readState } from '../../stores/state'
import { EventMessage, SpooledMessage } from '../messages'
import { asText } from '../payload'
import { recordDelivery } from '../receive/insert'
import { asRecorded } from '../receive/recording'
import { countRefusal } from '../receive/refusals'
import type { EventKey } from './claim'
import { WAIT_AFTER_FAILURE_S } from './limits'

/** An event that a message asks to have processed. */
export type Task = {
  message: Message<unknown>
  key: EventKey
  /** What sent the message, where that was the sweep. */
  via: 'sweep' | undefined
  /** Whether the Queue may redeliver this message to retry the event. False for a spooled delivery. */
  carrier: boolean
}

/** Reads which events a message asks to have processed. A message that asks for none is acked, or sent back, here. */
export async function readMessage(rt: Runtime, queue: string, message: Message<unknown>): Promise<Task[]> {
  const event = EventMessage.safeParse(message.body)
  if (event.success) {
    const { project_id, event_id, via } = event.data
    return [{ message, key: { project_id, event_id }, via, carrier: true }]
  }
  const spooled = SpooledMessage.safeParse(message.body)
  if (spooled.success) return recordSpooled(rt, message, spooled.data)
  writeLog('error', 'malformed_message', { queue, message_id: message.id })
  message.ack()
  return []
}

/** Records a delivery that arrived while D1 was down. Its message is not acked before that is done. */
async function recordSpooled(rt: Runtime, message: Message<unknown>, spooled: SpooledMessage): Promise<Task[]> {
  const { project_id, connection_id, secret_id, payload_id, received_at, headers, events, body } = spooled
  const bytes = Uint8Array.from(body)
  // A message may have come into the queue of another store, such as by a roll-back to a version with one store.
  const home = rt.at(storeOfConnection(connection_id) ?? rt.store) ?? rt
  try {
    const [from] = await run(home.db, readState(home.db, 'packed_from'))
    const delivery = { payload_id, body: asText(bytes) ?? bytes, headers, events, received_at }
    const fence = { id: connection_id, secret_id }
    const rows = await recordDelivery(home.db, { fence, delivery: asRecorded(delivery, from?.value ?? 0) })
    if (rows.length === 0) {
      // Its secret or its connection was removed in the meantime, so its signature no longer counts.
      writeLog('warn', 'spooled_refused', { connection_id, secret_id, event_ids: events.map(({ id }) => id) })
      countRefusal(home, { id: connection_id, project_id }, 'secret_removed')
      message.ack()
    }
    if (home.store !== rt.store) {
      message.ack() // Its own store's sweep finds its events.
      return []
    }
    return rows.map(({ id }) => ({ message, key: { project_id, event_id: id }, via: undefined, carrier: false }))
  } catch (error) {
    writeLog('error', 'spooled_not_recorded', { connection_id, error: String(error) })
    message.retry({ delaySeconds: WAIT_AFTER_FAILURE_S })
    return []
  }
}
