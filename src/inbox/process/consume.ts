import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { newId } from '../../lib/ids'
import { MINUTE } from '../../lib/time'
import { vendorOf } from '../../vendors'
import { LEASE_MS } from '../lifecycle'
import { EventMessage, SpooledMessage } from '../messages'
import { asText } from '../payload'
import { countRefusal } from '../receive/count-refusals'
import { recordDelivery } from '../receive/store'
import { type Claimed, claim, claimExpired, type EventKey, findExpired } from './claim'
import { process } from './decide'
import type { Verdict } from './finish'
import { retried, settle } from './settle'

/** Waits up to this long ride on the Queue; longer ones belong to the sweep. */
const MAX_QUEUE_WAIT = MINUTE
/** How long a message waits after D1 failed under it: by then the lease of what it had claimed has run out. */
const AFTER_FAILURE_S = Math.ceil(LEASE_MS / 1000) + 5

/** `carrier`: whether the message itself brings the event back for a retry; a spooled delivery's does not. */
type Keyed = { message: Message<unknown>; key: EventKey; via: 'sweep' | undefined; carrier: boolean }

/**
 * The Queue's consumer: claim → decode → apply → finish, in three D1 round trips for a batch. One event's failure
 * touches no other; whatever becomes of a message, the event's row says what is still to be done, and the sweep asks it.
 */
export async function consume(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  const startedAt = Date.now()
  const keyed: Keyed[] = []
  for (const message of batch.messages) keyed.push(...(await readMessage(rt, batch.queue, message)))
  try {
    const waits = await consumeEvents(rt, keyed)
    for (const { message, key, carrier } of keyed) {
      const wait = carrier ? waits.get(key.event_id) : undefined
      if (wait === undefined) message.ack()
      else message.retry({ delaySeconds: Math.ceil(wait / 1000) })
    }
    logBatch(rt, 'info', batch.messages.length, startedAt)
  } catch (error) {
    // Nothing is lost: what was claimed is taken over once its lease has run out.
    for (const { message } of keyed) message.retry({ delaySeconds: AFTER_FAILURE_S })
    logBatch(rt, 'error', batch.messages.length, startedAt, error)
  }
}

/** The events a message speaks of. A message that nothing can be done with is settled here, and speaks of none. */
async function readMessage(rt: Runtime, queue: string, message: Message<unknown>): Promise<Keyed[]> {
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

/** Records a delivery that came in while D1 was out. Its message is not acked before that is done. */
async function recordSpooled(rt: Runtime, message: Message<unknown>, spooled: SpooledMessage): Promise<Keyed[]> {
  const { project_id, connection_id, secret_id, payload_id, received_at, headers, events, body } = spooled
  const bytes = Uint8Array.from(body)
  try {
    const rows = await recordDelivery(
      rt.db,
      { id: connection_id, secret_id },
      { payload_id, body: asText(bytes) ?? bytes.buffer, headers, events, received_at },
    )
    if (rows.length === 0) {
      // Its secret is no longer live, or its connection is gone: what it signed is no longer to be believed.
      writeLog('warn', 'spooled_refused', { connection_id, secret_id, event_ids: events.map(({ id }) => id) })
      countRefusal(rt, { id: connection_id, project_id }, 'secret_removed')
      message.ack()
    }
    return rows.map(({ id }) => ({ message, key: { project_id, event_id: id }, via: undefined, carrier: false }))
  } catch (error) {
    writeLog('error', 'spooled_not_recorded', { connection_id, error: String(error) })
    message.retry({ delaySeconds: AFTER_FAILURE_S })
    return []
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
  const verdicts = await settle(
    rt.db,
    claimed.map((event) => judge(event, byId.get(event.id)?.via)),
    lease,
  )
  for (const verdict of verdicts) {
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
      body: event.body,
      headers: event.headers === null ? {} : (JSON.parse(event.headers) as Record<string, string>),
    })
    return { ...base, ...outcome, due_at: null }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    writeLog('error', 'processing_failed', {
      event_id: event.id,
      error: error instanceof Error ? error.stack : message,
    })
    return retried({ ...base, status: 'failed', error: null, due_at: null, summary: null, snapshots: [] }, message)
  }
}

function triggerOf(event: Claimed, via: 'sweep' | undefined): Verdict['trigger'] {
  if (event.tries > 1) return 'retry'
  if (event.replay_id !== null) return 'replay'
  return via ?? 'ingest'
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
