import { ANSWER_TIMEOUT_MS } from '../../db/answered'
import type { Db } from '../../db/client'
import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { type RecordedEvent, recordDeliveries } from './insert'
import { ALONE_AFTER, MAX_GROUP, MAX_GROUP_BYTES, MAX_TRIPS_OUT, ROW_BYTES } from './limits'
import type { Recording } from './recording'

/** A round trip to the database that is in flight, and when it left (ms). */
type Trip = { leftAt: number }
/** What a waiting delivery is told: to lead a trip, to go alone, or the outcome of the trip that carried it. */
type Signal = { lead: Trip } | { alone: true } | { rows: RecordedEvent[] } | { error: unknown }
/** A waiting delivery: plain data, which any request can record, and a callback to its own request. */
type Waiting = { recording: Recording; bytes: number; since: number; tell: (signal: Signal) => void }
/** The recording trips of this isolate to one database, and the deliveries that wait for one, oldest first. */
type Lane = { out: Set<Trip>; waiting: Set<Waiting> }
/** A delivery with its own request's database. `bytes`: its share of a trip's limit. */
type Own = { lane: Lane; db: Db; recording: Recording; bytes: number }

const lanes = new WeakMap<D1Database, Lane>()

/**
 * Group commit: records a delivery, together with others of this isolate while the database is busy. While fewer than
 * {@link MAX_TRIPS_OUT} trips are in flight, a delivery leaves at once. Otherwise it waits for one to return. The
 * oldest waiting delivery then leads the next trip, with its own request's database, and carries others along.
 *
 * Any request can end at any moment, so none depends on another: after {@link ALONE_AFTER} a delivery goes alone,
 * whatever it was waiting for. That is safe: an event is stored once, however often it is
 * recorded. Only a repeat that is recorded twice counts twice in `deliveries`.
 *
 * @param size of the delivery's body, in bytes
 * @returns a row for each event; no rows if the fence does not hold, and then nothing is written
 * @throws {Fault} `database_unavailable` if D1 fails or does not answer in time
 */
export function groupCommit(rt: Runtime, recording: Recording, size: number): Promise<RecordedEvent[]> {
  const lane = laneOf(rt.db.binding)
  const own = { lane, db: rt.db, recording, bytes: size + ROW_BYTES * recording.delivery.events.length }
  const work = hasRoom(lane) ? lead(own, depart(lane)) : wait(own)
  rt.waitUntil(work.catch(() => {})) // so that a trip continues when its caller hangs up: it may carry others
  return work
}

async function wait(own: Own): Promise<RecordedEvent[]> {
  const { lane, recording, bytes } = own
  const { promise, resolve: tell } = Promise.withResolvers<Signal>()
  const waiting = { recording, bytes, since: Date.now(), tell }
  lane.waiting.add(waiting)
  const timer = setTimeout(() => {
    lane.waiting.delete(waiting)
    tell({ alone: true })
  }, ALONE_AFTER)
  const signal = await promise
  clearTimeout(timer)
  if ('rows' in signal) return signal.rows
  if ('error' in signal) throw signal.error
  return 'lead' in signal ? lead(own, signal.lead) : send(own, [], depart(lane))
}

/** Makes a trip with a delivery and as many waiting ones as fit. */
function lead(own: Own, trip: Trip): Promise<RecordedEvent[]> {
  const others: Waiting[] = []
  let bytes = own.bytes
  for (const next of own.lane.waiting) {
    bytes += next.bytes
    if (others.length === MAX_GROUP - 1 || bytes > MAX_GROUP_BYTES) break
    own.lane.waiting.delete(next)
    others.push(next)
  }
  return send(own, others, trip)
}

async function send(own: Own, others: readonly Waiting[], trip: Trip): Promise<RecordedEvent[]> {
  const { lane, db, recording } = own
  try {
    const [rows = [], ...rest] = await recordDeliveries(db, [recording, ...others.map((other) => other.recording)])
    for (const [i, other] of others.entries()) other.tell({ rows: rest[i] ?? [] })
    return rows
  } catch (error) {
    const unanswered = error instanceof Fault
    for (const other of others) other.tell(unanswered ? { error } : { alone: true })
    if (unanswered || others.length === 0) throw error
  } finally {
    lane.out.delete(trip)
    wake(lane)
  }
  // D1 refused a statement of the group, perhaps another delivery's. Nothing was written, so each goes alone.
  return send(own, [], depart(lane))
}

/** Has waiting deliveries lead trips, for as many as there is room. */
function wake(lane: Lane): void {
  for (const first of lane.waiting) {
    if (!hasRoom(lane)) return
    lane.waiting.delete(first)
    // If it has waited too long, its request has ended, or its timer is about to send it alone.
    if (Date.now() - first.since < ALONE_AFTER) first.tell({ lead: depart(lane) })
  }
}

/** Whether another trip may leave. A trip that takes longer than D1's timeout has lost its request. */
function hasRoom(lane: Lane): boolean {
  for (const trip of lane.out) if (Date.now() - trip.leftAt > ANSWER_TIMEOUT_MS) lane.out.delete(trip)
  return lane.out.size < MAX_TRIPS_OUT
}

function depart(lane: Lane): Trip {
  const trip = { leftAt: Date.now() }
  lane.out.add(trip)
  return trip
}

/** The lane of a database; an isolate may use several. */
function laneOf(binding: D1Database): Lane {
  const lane = lanes.get(binding) ?? { out: new Set(), waiting: new Set() }
  lanes.set(binding, lane)
  return lane
}
