import * as z from 'zod'
import { notBound, type Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { measure, measureErrors } from '../../http/measure'
import { storeOfProject } from '../../lib/ids'
import { SECOND } from '../../lib/time'
import { within } from '../../lib/within'
import { addToState } from '../../stores/state'
import { FIRST_ASKED_MS } from '../doubts/limits'
import { sendDoubts } from '../doubts/message'
import { SpooledMessage, sendEvents, sendSpooled } from '../messages'
import { DEAD_LETTER_WAIT_S, SEND_WITHIN_MS, WAIT_AFTER_FAILURE_S } from './limits'
import { type BatchOutcome, processEvents } from './process-events'
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
    const outcome = await processEvents(rt, tasks)
    if (outcome.apart.length + outcome.doubtful.size > 0) await handOver(rt, outcome)
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

/** Sends to the queue of fetches what the vendors are to be asked for. If it does not take that, the cron sends it. */
async function handOver(rt: Runtime, { apart, doubtful }: BatchOutcome): Promise<void> {
  try {
    await within(SEND_WITHIN_MS, sendEvents(rt.fetches, apart, { what: 'event' }))
    await sendDoubts(rt.fetches, [...doubtful], FIRST_ASKED_MS / SECOND)
  } catch (error) {
    writeLog('warn', 'queue_send_failed', { events: apart.length, projects: doubtful.size, error: String(error) })
  }
}

type Report = { messages: number; ms: number; outcome?: BatchOutcome; error?: string }

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

/**
 * Handles a batch of a store's queue, or of the one queue for messages that ended as dead letters.
 *
 * @throws {Fault} `not_configured` if the queue belongs to a store that is not bound: its messages are tried again
 *   later
 */
export async function handleBatch(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  if (batch.queue.endsWith('-dead')) return resendDead(rt, batch)
  const store = storeOfQueue(batch.queue)
  const inside = rt.at(store)
  if (!inside) throw notBound(store)
  return consume(inside, batch)
}

/** The store whose queue this is: the number at the end of its name, or 0 if there is none. */
function storeOfQueue(name: string): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? 0)
}
