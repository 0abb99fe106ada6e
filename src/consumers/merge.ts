import { and, eq, inArray, sql } from 'drizzle-orm'
import { audited, type Change, entriesOf } from '../audit/store'
import { batch, type Db } from '../db/client'
import { valuesOf } from '../db/sql'
import { Fault } from '../lib/fault'
import { fenced, requireRoomForIds, untilCurrent } from './change'
import { movedDevices } from './devices'
import { countGrants, grantsMoved, liveCount } from './grants'
import { MAX_GRANTS, MAX_MERGED, MAX_PINNED } from './limits'
import { pinnedTo } from './links'
import { countPins, movePins } from './pins'
import { type Consumer, changeable, countMerged, findConsumer, mergedInto, requireConsumer } from './read'
import type { ConsumerRef, NamedConsumer } from './ref'
import { consumerIds, consumers } from './schema'

/**
 * Merges a consumer into another one, which gets its external ids after its own, the customers that are pinned to it, its
 * devices and its grants. Consumers that were merged into the first one then name the survivor. There is no way back.
 *
 * @returns the survivor
 * @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased`, `validation_failed`, `external_id_limit_reached`, `merge_limit_reached`
 */
export async function mergeConsumer(
  db: Db,
  { project_id, ref }: NamedConsumer,
  into: ConsumerRef,
  change: Change,
): Promise<Consumer> {
  return untilCurrent(project_id, [ref, into], async () => {
    const found = await batch(db, {
      from: findConsumer(db, project_id, ref),
      into: findConsumer(db, project_id, into),
      merged: countMerged(db, project_id, [ref, into]),
      moving: pinnedTo(db, project_id, ref),
      pinned: pinnedTo(db, project_id, into),
      granted: countGrants(db, project_id, ref, change.now),
      held: countGrants(db, project_id, into, change.now),
    })
    const from = changeable(found.from)
    const survivor = changeable(found.into)
    if (from.id === survivor.id) throw intoItself()
    requireRoomForIds(from.external_ids.length + survivor.external_ids.length)
    if ((found.merged[0]?.n ?? 0) >= MAX_MERGED) throw tooManyMerged()
    if (found.moving.length + found.pinned.length > MAX_PINNED) throw tooManyPinned()
    if ((found.granted[0]?.n ?? 0) + (found.held[0]?.n ?? 0) > MAX_GRANTS) throw tooManyGrants()
    const { now } = change
    const gone = { state: 'merged' as const, merged_into: survivor.id, blocked_reason: null, updated_at: now }
    const details = { into: survivor.id, external_ids: from.external_ids.length, customers: found.moving }
    // Pins and grants do not change the revision, so they are counted again.
    const moving = found.moving.length
    const pinsFit = sql`${countPins(project_id, from.id)} = ${moving}
      AND ${countPins(project_id, survivor.id)} <= ${MAX_PINNED - moving}`
    const grantsFit = sql`${liveCount(project_id, from, now)} + ${liveCount(project_id, survivor, now)} <= ${MAX_GRANTS}`
    const { rows } = await batch(db, {
      // First those that fail the batch if one of the two has changed.
      ...audited(
        db,
        change,
        entry(project_id, from.id, 'consumer.merged', details),
        fenced(db, { project_id, ...from }, gone, sql`${pinsFit} AND ${grantsFit}`),
      ),
      survivor: fenced(db, { project_id, ...survivor }, { updated_at: now }),
      ids: idsMoved(db, project_id, from, survivor),
      earlier: db
        .update(consumers)
        .set({ merged_into: survivor.id })
        .where(and(eq(consumers.project_id, project_id), inArray(consumers.id, mergedInto(project_id, from.id)))),
      pins: movePins(db, project_id, from.id, survivor.id),
      ...movedDevices(db, project_id, from.id, survivor.id),
      grants: grantsMoved(db, project_id, from.id, survivor.id),
      rows: findConsumer(db, project_id, survivor),
    })
    return requireConsumer(rows)
  })
}

const entry = entriesOf('consumer')

/** Gives the external ids of a consumer to the survivor, after its own. */
function idsMoved(db: Db, projectId: string, from: Consumer, survivor: Consumer) {
  const position = sql`${consumerIds.position} + ${survivor.external_ids.length}`
  return db
    .update(consumerIds)
    .set({ consumer_id: survivor.id, position })
    .where(and(eq(consumerIds.project_id, projectId), inArray(consumerIds.external_id, valuesOf(from.external_ids))))
}

function intoItself(): Fault {
  const message = 'must be another consumer'
  return new Fault('validation_failed', 'A consumer cannot be merged into itself.', {
    errors: [{ pointer: '/into', code: 'not_one_of', message }],
  })
}

function tooManyPinned(): Fault {
  return new Fault('merge_limit_reached', `At most ${MAX_PINNED} customers can be pinned to one consumer.`)
}

function tooManyGrants(): Fault {
  return new Fault('merge_limit_reached', `A consumer can have ${MAX_GRANTS} live grants.`)
}

function tooManyMerged(): Fault {
  return new Fault('merge_limit_reached', `At most ${MAX_MERGED} consumers can be merged into one.`)
}
