import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { WAIT_AFTER_FAILURE_S } from './limits'
import { processEvents } from './process-events'
import { readMessage, type Task } from './read-message'

/**
 * The Queue's consumer. Whatever happens to a message, the event's row says what is still to be done, and the sweep
 * goes by that.
 */
export async function consume(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  const startedAt = Date.now()
  const tasks: Task[] = []
  for (const message of batch.messages) tasks.push(...(await readMessage(rt, batch.queue, message)))
  try {
    const waits = await processEvents(rt.db, tasks)
    for (const { message, key, carrier } of tasks) {
      const wait = carrier ? waits.get(key.event_id) : undefined
      if (wait === undefined) message.ack()
      else message.retry({ delaySeconds: Math.ceil(wait / 1000) })
    }
    logBatch(rt, 'info', { messages: batch.messages.length, ms: Date.now() - startedAt })
  } catch (error) {
    // Nothing is lost: claimed events are taken over once their leases have expired.
    for (const { message } of tasks) message.retry({ delaySeconds: WAIT_AFTER_FAILURE_S })
    const failure = error instanceof Error ? error.message : String(error)
    logBatch(rt, 'error', { messages: batch.messages.length, ms: Date.now() - startedAt, error: failure })
  }
}

type BatchLog = { messages: number; ms: number; error?: string }

function logBatch(rt: Runtime, level: 'info' | 'error', { messages, ms, error }: BatchLog): void {
  const { trips, rows_read, rows_written } = rt.db.meter
  const cost = { d1_trips: trips, d1_rows_read: rows_read, d1_rows_written: rows_written }
  writeLog(level, 'batch', { messages, ms, ...cost, ...(error !== undefined && { error }) })
}
