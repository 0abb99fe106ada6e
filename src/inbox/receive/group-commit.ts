import type { Db } from '../../db/client'
import { ANSWER_TIMEOUT_MS } from '../../db/metered'
import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { ALONE_AFTER, MAX_GROUP, MAX_GROUP_BYTES, MAX_TRIPS_OUT, ROW_BYTES } from './limits'
import { type RecordedEvent, type Recording, recordDeliveries } from './store'

/** A trip to the database, and when it left (ms). */
type Trip = { leftAt: number }
/** What a waiting delivery is told: to lead a trip, to go alone, or what became of the trip that took it along. */
type Word = { lead: Trip } | { alone: true } | { rows: RecordedEvent[] } | { error: unknown }
/** A delivery that waits: plain data, which any request can record, and a way to tell its own request. */
type Waiting = { recording: Recording; bytes: number; since: number; tell: (word: Word) => void }
/** The recording trips of this isolate to one database, and the deliveries that wait for one, first come first. */
type Lane = { out: Set<Trip>; waiting: Set<Waiting> }
/** A delivery in the hands of its own request. `bytes`: what it weighs in a group. */
type Own = { lane: Lane; db: Db; recording: Recording; bytes: number }

const lanes = new WeakMap<D1Database, Lane>()

/**
 * Group commit: records a delivery, together with others of this isolate while the database is busy. While fewer than
 * {@link MAX_TRIPS_OUT} trips are out, a delivery leaves at once. Otherwise it waits for one to return. One of those
 * that wait then leads the next trip, with its own request's database, and takes others along.
 *
 * Any request may end at any moment, so none depends on another: after {@link ALONE_AFTER} a delivery goes alone,
 * whatever it was waiting for. That is safe, because recording a delivery again changes nothing.
 *
 * @param size of the delivery's body, in bytes
 * @returns a row for each event; none where the fence does not hold, and then nothing is written
 * @throws {Fault} `database_unavailable` where D1 fails or does not answer in time
 */
export function groupCommit(rt: Runtime, recording: Recording, size: number): Promise<RecordedEvent[]> {
  const lane = laneOf(rt.db.binding)
  const own = { lane, db: rt.db, recording, bytes: size + ROW_BYTES * recording.delivery.events.length }
  const work = hasRoom(lane) ? lead(own, depart(lane)) : wait(own)
  rt.waitUntil(work.catch(() => {})) // a caller that hangs up must not end a trip that others are on
  return work
}

async function wait(own: Own): Promise<RecordedEvent[]> {
  const { lane, recording, bytes } = own
  const { promise, resolve: tell } = Promise.withResolvers<Word>()
  const waiting = { recording, bytes, since: Date.now(), tell }
  lane.waiting.add(waiting)
  const timer = setTimeout(() => {
    lane.waiting.delete(waiting)
    tell({ alone: true })
  }, ALONE_AFTER)
  const word = await promise
  clearTimeout(timer)
  if ('rows' in word) return word.rows
  if ('error' in word) throw word.error
  return 'lead' in word ? lead(own, word.lead) : send(own, [], depart(lane))
}

/** Makes a trip with a delivery and with as many of those that wait as fit. */
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
  // D1 refused a statement of the group, perhaps another delivery's. Nothing has happened, so each goes alone.
  return send(own, [], depart(lane))
}

/** Tells those that wait to lead the trips that there is room for. */
function wake(lane: Lane): void {
  for (const first of lane.waiting) {
    if (!hasRoom(lane)) return
    lane.waiting.delete(first)
    // One that has been here for longer has no request any more, or a timer that is about to send it alone.
    if (Date.now() - first.since < ALONE_AFTER) first.tell({ lead: depart(lane) })
  }
}

/** Whether a trip may leave. One that is out for longer than D1 is given to answer has no request any more. */
function hasRoom(lane: Lane): boolean {
  for (const trip of lane.out) if (Date.now() - trip.leftAt > ANSWER_TIMEOUT_MS) lane.out.delete(trip)
  return lane.out.size < MAX_TRIPS_OUT
}

function depart(lane: Lane): Trip {
  const trip = { leftAt: Date.now() }
  lane.out.add(trip)
  return trip
}

/** The lane of a database. An isolate may be handed several. */
function laneOf(binding: D1Database): Lane {
  const lane = lanes.get(binding) ?? { out: new Set(), waiting: new Set() }
  lanes.set(binding, lane)
  return lane
}
