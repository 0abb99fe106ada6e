import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { newId } from '../lib/ids'
import { MINUTE } from '../lib/time'
import { LEASE_MS, retryDelay } from './lifecycle'
import { EventMessage } from './messages'
import { process } from './process'
import { type Claimed, claim, claimExpired, type EventKey, findExpired } from './record/claim'
import { finish, type Verdict } from './record/finish'
import { vendorOf } from './vendors'

/** Waits up to this long ride on the Queue; longer ones belong to the sweep. */
const MAX_QUEUE_WAIT = MINUTE
/** How long a message waits after D1 failed under it: by then the lease of what it had claimed has run out. */
const AFTER_FAILURE_S = Math.ceil(LEASE_MS / 1000) + 5

type Keyed = { message: Message<unknown>; key: EventKey; via: 'sweep' | undefined }

/**
 * The Queue's consumer: claim → decode → decide → finish, in two D1 round trips for a batch. One event's failure
 * touches no other; whatever becomes of a message, the event's row says what is still to be done, and the sweep asks it.
 */
export async function consume(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  const startedAt = Date.now()
  const messages = readMessages(batch)
  try {
    const waits = await consumeEvents(rt, messages)
    for (const { message, key } of messages) {
      const wait = waits.get(key.event_id)
      if (wait === undefined) message.ack()
      else message.retry({ delaySeconds: Math.ceil(wait / 1000) })
    }
    logBatch(rt, 'info', messages.length, startedAt)
  } catch (error) {
    // Nothing is lost: what was claimed is taken over once its lease has run out.
    for (const { message } of messages) message.retry({ delaySeconds: AFTER_FAILURE_S })
    logBatch(rt, 'error', messages.length, startedAt, error)
  }
}

/** @returns event id → how long its message should wait (ms) before the next attempt; absent ones are to be acked */
async function consumeEvents(rt: Runtime, messages: readonly Keyed[]): Promise<Map<string, number>> {
  const waits = new Map<string, number>()
  const byId = new Map(messages.map((one) => [one.key.event_id, one]))
  const keys = [...byId.values()].map(({ key }) => key)
  if (keys.length === 0) return waits
  const lease = newId('lse', Date.now())
  const claimed = await claim(rt.db, keys, lease, Date.now())
  await work(rt, claimed, lease, byId, waits)

  // What a dead worker left may be what killed it: such an event is claimed alone, after the others are safe.
  const seen = new Set(claimed.map(({ id }) => id))
  const rest = keys.filter(({ event_id }) => !seen.has(event_id))
  if (rest.length === 0) return waits
  for (const key of await findExpired(rt.db, rest, Date.now())) {
    const own = newId('lse', Date.now())
    const event = await claimExpired(rt.db, key, own, Date.now())
    if (event) await work(rt, [event], own, byId, waits)
  }
  return waits
}

async function work(
  rt: Runtime,
  claimed: readonly Claimed[],
  lease: string,
  byId: ReadonlyMap<string, Keyed>,
  waits: Map<string, number>,
): Promise<void> {
  if (claimed.length === 0) return
  const verdicts = claimed.map((event) => judge(event, byId.get(event.id)?.via))
  const { refused } = await finish(rt.db, verdicts, lease, Date.now())
  const second = refused.map(({ verdict, error }) => retried(verdict, `the database refused its effects: ${error}`))
  if (second.length > 0) await finish(rt.db, second, lease, Date.now())
  for (const verdict of [...verdicts, ...second]) {
    const wait = verdict.due_at === null ? null : verdict.due_at - Date.now()
    if (wait !== null && wait <= MAX_QUEUE_WAIT * 1.2) waits.set(verdict.event.id, Math.max(wait, 0))
  }
}

function judge(event: Claimed, via: 'sweep' | undefined): Verdict {
  const base = { event, trigger: triggerOf(event, via), started_at: Date.now() }
  try {
    const outcome = process(vendorOf(event.vendor), {
      vendor: event.vendor,
      vendor_event_id: event.vendor_event_id,
      text: typeof event.body === 'string' ? event.body : null,
      headers: event.headers === null ? {} : (JSON.parse(event.headers) as Record<string, string>),
    })
    return { ...base, ...outcome, due_at: null }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    writeLog('error', 'processing_failed', {
      event_id: event.id,
      error: error instanceof Error ? error.stack : message,
    })
    return retried({ ...base, status: 'failed', error: null, due_at: null, summary: null }, message)
  }
}

/** The verdict of a failed attempt: another one later, or failed when the tries are used up. */
function retried(verdict: Verdict, error: string): Verdict {
  const delay = retryDelay(verdict.event.tries, Math.random())
  const next = { ...verdict, error, summary: null }
  return delay === null
    ? { ...next, status: 'failed', due_at: null }
    : { ...next, status: 'retrying', due_at: Date.now() + delay }
}

function triggerOf(event: Claimed, via: 'sweep' | undefined): Verdict['trigger'] {
  if (event.tries > 1) return 'retry'
  if (event.replay_id !== null) return 'replay'
  return via ?? 'ingest'
}

function readMessages(batch: MessageBatch<unknown>): Keyed[] {
  const keyed: Keyed[] = []
  for (const message of batch.messages) {
    const parsed = EventMessage.safeParse(message.body)
    if (parsed.success) {
      const { project_id, event_id, via } = parsed.data
      keyed.push({ message, key: { project_id, event_id }, via })
    } else {
      writeLog('error', 'malformed_message', { queue: batch.queue, message_id: message.id })
      message.ack()
    }
  }
  return keyed
}

function logBatch(rt: Runtime, level: 'info' | 'error', messages: number, startedAt: number, error?: unknown): void {
  const { trips, rows_read, rows_written } = rt.db.meter
  writeLog(level, 'batch', {
    messages,
    ms: Date.now() - startedAt,
    d1_trips: trips,
    d1_rows_read: rows_read,
    d1_rows_written: rows_written,
    ...(error !== undefined && { error: error instanceof Error ? error.message : String(error) }),
  })
}
