import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { measure, measureErrors } from '../../http/measure'
import { WAIT_AFTER_FAILURE_S } from './limits'
import { type Outcome, processEvents } from './process-events'
import { readMessage, type Task } from './read-message'

/**
 * The Queue's consumer. Whatever happens to a message, the event's row says what is still to be done, and the sweep
 * relies on that.
 */
export async function consume(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  const startedAt = Date.now()
  const tasks: Task[] = []
  for (const message of batch.messages) tasks.push(...(await readMessage(rt, batch.queue, message)))
  try {
    const outcome = await processEvents(rt.db, tasks)
    for (const { message, key, carrier } of tasks) {
      const wait = carrier ? outcome.waits.get(key.event_id) : undefined
      if (wait === undefined) message.ack()
      else message.retry({ delaySeconds: Math.ceil(wait / 1000) })
    }
    report(rt, { messages: batch.messages.length, ms: Date.now() - startedAt, outcome })
  } catch (error) {
    // Nothing is lost: claimed events are taken over once their leases have expired.
    for (const { message } of tasks) message.retry({ delaySeconds: WAIT_AFTER_FAILURE_S })
    const failure = error instanceof Error ? error.message : String(error)
    report(rt, { messages: batch.messages.length, ms: Date.now() - startedAt, error: failure })
  }
}

type Report = { messages: number; ms: number; outcome?: Outcome; error?: string }

/** The log line and the metrics of a batch. */
function report(rt: Runtime, { messages, ms, outcome, error }: Report): void {
  const { trips, rows_read, rows_written, ms: d1_ms } = rt.cost()
  const cost = { d1_trips: trips, d1_ms, d1_rows_read: rows_read, d1_rows_written: rows_written }
  writeLog(error === undefined ? 'info' : 'error', 'batch', {
    messages,
    ms,
    ...cost,
    ...(outcome && outcome.dropped > 0 && { dropped: outcome.dropped }),
    ...(error !== undefined && { error }),
  })
  const lags = outcome?.lags ?? []
  measure(rt, 'batch', {
    outcome: error === undefined ? 'done' : 'failed',
    messages,
    finished: outcome?.finished ?? 0,
    ms,
    d1_trips: trips,
    d1_ms,
    lag_ms_sum: lags.reduce((sum, lag) => sum + lag, 0),
    lag_ms_max: Math.max(0, ...lags),
    dropped: outcome?.dropped ?? 0,
  })
  measureErrors(rt, 'batch')
}
