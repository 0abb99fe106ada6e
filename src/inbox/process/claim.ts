import { and, count, eq, inArray, isNotNull, isNull, lt, lte, not, notExists, or, type SQL, sql } from 'drizzle-orm'
import { batch, type Db, type Results } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { isDeleted, settingsFor } from '../../tenancy/project'
import { projects } from '../../tenancy/schema'
import { readingOf } from '../connections/connection'
import { connections } from '../connections/schema'
import { isFetchedApart } from '../fetched-apart'
import { dueOf, isPaused, notOnHold } from '../held'
import { leftBy } from '../lifecycle'
import { attempts, events, replays } from '../schema'
import { isDelivered } from '../sources'
import { effectsIn } from '../summary'
import { LEASE_MS, MAX_TRIES } from './limits'
import { fittingPayloads, type StoredPayload, selectPayloads } from './payloads'

export type EventKey = { project_id: string; event_id: string }
/** A claimed event. Its payload is read apart, because several events may share it. */
export type Claimed = Awaited<ReturnType<typeof selectClaimed>>[number]
/** What one claim gives: events, and their payloads by id. A payload is missing where its retention has ended. */
export type ClaimedBatch = { events: Claimed[]; payloads: ReadonlyMap<string, StoredPayload> }

/** How events are claimed. `lease`: the token that fences what this worker writes. `apart`: whether those are claimed too whose object is fetched. */
export type Claiming = { lease: string; now: number; apart: boolean }

/** An event whose project is not deleted. The others wait until an owner restores the project. */
const isOfLive = not(isDeleted(events.project_id))

/**
 * Claims the listed events that are ready to be processed, as many as have payloads that fit into memory together, in
 * one round trip. An event that is not returned is finished, not yet due, held by another worker or by its connection, or left for the next
 * claim: claim the rest until nothing is returned.
 *
 * An event whose last lease expired is left to {@link claimExpired}: it may be what killed its worker.
 */
export async function claim(db: Db, keys: readonly EventKey[], { lease, now, apart }: Claiming): Promise<ClaimedBatch> {
  const isReady = and(isListed, isDue(now), apart ? undefined : not(isFetchedApart(events)))
  // Events with the same payload have the same connection, so it is looked at once.
  const isFitting = and(isReady, not(isPaused(events)))
  const fits = sql`(${events.project_id}, ${events.payload_id}) IN ${fittingPayloads(db, listed(keys), isFitting)}`
  return claimOf(
    await batch(db, {
      taken: db.update(events).set(newLease(lease, now)).from(listed(keys)).where(and(isReady, fits)),
      ...claimedUnder(db, keys, lease),
    }),
  )
}

/** Whether an event waits for a worker, and its time has come. */
function isDue(now: number) {
  const due = and(inArray(events.status, leftBy('retry')), lte(events.next_attempt_at, now))
  return and(lt(events.tries, MAX_TRIES), or(inArray(events.status, leftBy('claim')), due), notOnHold(events), isOfLive)
}

/** Reads the listed events whose worker's lease expired and that have tries left, the most tried ones last. */
export function findExpired(db: Db, keys: readonly EventKey[], { now, apart }: Omit<Claiming, 'lease'>) {
  const isOurs = apart ? undefined : not(isFetchedApart(events))
  return db
    .select({ project_id: events.project_id, event_id: events.id })
    .from(listed(keys))
    .crossJoin(events)
    .where(and(isListed, isLeft(now), isOurs))
    .orderBy(events.tries)
}

/** Whether a worker may take the event over from one that died. */
function isLeft(now: number) {
  return and(isExpired(now), lt(events.tries, MAX_TRIES), notOnHold(events), isOfLive)
}

/** Holds the listed events whose connection is paused and that no worker has: a claim does not take those. See ../held.ts. */
export function hold(db: Db, keys: readonly EventKey[], now: number) {
  const isFree = or(isNull(events.lease_until), lte(events.lease_until, now))
  return db
    .update(events)
    .set({ due_at: dueOf(events, now) })
    .from(listed(keys))
    .where(and(isListed, notOnHold(events), isFree, isPaused(events)))
}

/** Reads the listed events that wait for a worker, and whose object is to be fetched: those belong to the other queue. */
export function findApart(db: Db, keys: readonly EventKey[], now: number) {
  return db
    .select({ project_id: events.project_id, event_id: events.id })
    .from(listed(keys))
    .crossJoin(events)
    .where(and(isListed, or(isDue(now), isLeft(now)), isFetchedApart(events)))
}

/** Counts the listed events whose project is deleted, or no longer there. */
export function countDropped(db: Db, keys: readonly EventKey[]) {
  const live = db
    .select({ one: sql`1` })
    .from(projects)
    .where(and(eq(projects.id, sql`m.value->>0`), isNull(projects.deleted_at)))
  return db.select({ n: count() }).from(listed(keys)).where(notExists(live))
}

/** Takes over one event from a worker that died, and records the attempt that died with it. */
export async function claimExpired(db: Db, key: EventKey, lease: string, now: number): Promise<ClaimedBatch> {
  const isEvent = and(eq(events.project_id, key.project_id), eq(events.id, key.event_id))
  const isAbandoned = and(isEvent, isExpired(now), notOnHold(events), not(isPaused(events)), isOfLive) as SQL
  return claimOf(
    await batch(db, {
      died: recordDied(db, isAbandoned),
      taken: db
        .update(events)
        .set(newLease(lease, now))
        .where(and(isAbandoned, lt(events.tries, MAX_TRIES))),
      ...claimedUnder(db, [key], lease),
    }),
  )
}

function claimedUnder(db: Db, keys: readonly EventKey[], lease: string) {
  const isHeld = and(isListed, eq(events.lease_token, lease))
  return { events: selectClaimed(db, keys, lease), payloads: selectPayloads(db, listed(keys), isHeld) }
}

function claimOf({ events, payloads }: Results<ReturnType<typeof claimedUnder>>): ClaimedBatch {
  return { events, payloads: new Map(payloads.map(({ id, ...payload }) => [id, payload])) }
}

/** The error of an attempt whose worker's lease expired. */
export const DIED = 'the worker did not finish within its lease'

/** Records the attempt of a worker whose lease expired: it can no longer do so itself. */
function recordDied(db: Db, isAbandoned: SQL) {
  const { tries, replay_id, lease_until } = events
  const actor = sql`(SELECT ${replays.actor} FROM ${replays}
    WHERE ${replays.project_id} = ${events.project_id} AND ${replays.id} = ${replay_id})`
  return insertFrom(
    db,
    attempts,
    {
      event_id: events.id,
      number: events.attempts,
      trigger: sql`CASE WHEN ${tries} > 1 THEN 'retry' WHEN ${replay_id} IS NULL THEN 'ingest' ELSE 'replay' END`,
      actor: sql`CASE WHEN ${tries} = 1 THEN ${actor} END`,
      started_at: sql`${lease_until} - ${LEASE_MS}`,
      finished_at: lease_until,
      outcome: sql`'died'`,
      error: sql`${DIED}`,
    },
    sql`FROM ${events} WHERE ${isAbandoned} ON CONFLICT DO NOTHING`,
  )
}

/** Reads those events of a list that are held under this lease. */
export function selectClaimed(db: Db, keys: readonly EventKey[], lease: string) {
  return db
    .select({
      project_id: events.project_id,
      id: events.id,
      connection_id: events.connection_id,
      ...readingOf,
      vendor_event_id: events.vendor_event_id,
      status: events.status,
      attempts: events.attempts,
      tries: events.tries,
      replay_id: events.replay_id,
      released_at: events.released_at,
      payload_id: events.payload_id,
      settings: settingsFor(events.project_id),
      /** Of a replay: what the event did when it was processed before. */
      earlier: effectsOfReplayed.as('earlier'),
    })
    .from(listed(keys))
    .crossJoin(events)
    .crossJoin(connections)
    .where(and(isListed, eq(events.lease_token, lease), eq(connections.id, events.connection_id)))
}

/** A record of a fetch is also processed again for an event that is replayed. */
const isAgain = or(isNotNull(events.replay_id), not(isDelivered(events.id)))
const effectsOfReplayed = effectsIn(events, isAgain)

/** A list of events as a table `m`: one parameter, however long the list is. */
export function listed(keys: readonly EventKey[]): SQL {
  return sql`json_each(${JSON.stringify(keys.map(({ project_id, event_id }) => [project_id, event_id]))}) m`
}
export const isListed = and(eq(events.project_id, sql`m.value->>0`), eq(events.id, sql`m.value->>1`))

function isExpired(now: number) {
  return and(inArray(events.status, leftBy('take_over')), lte(events.lease_until, now))
}

function newLease(lease: string, now: number) {
  return {
    status: 'processing' as const,
    lease_token: lease,
    lease_until: now + LEASE_MS,
    attempts: sql`${events.attempts} + 1`,
    tries: sql`${events.tries} + 1`,
  }
}
