import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core'
import { audited, type Change, entriesOf } from '../audit/store'
import { batch, type Db, run } from '../db/client'
import { refusedNull, refusedTwin } from '../db/refused'
import { requireMatch } from '../http/etag'
import { TURN_WAIT_MS } from '../http/limits'
import { waitForTurn } from '../http/turns'
import { Fault } from '../lib/fault'
import { type Editing, edited } from './edits'
import { MAX_ATTEMPTS, MAX_EXTERNAL_IDS } from './limits'
import { withKeys } from './names'
import { type Consumer, changeable, findConsumer, requireConsumer } from './read'
import type { ConsumerRef, NamedConsumer } from './ref'
import { type ConsumerFields, consumerIds, consumers } from './schema'

/**
 * Changes a consumer, and gives it another external id if there is one. The same values again write nothing.
 *
 * @param ifMatch the header; undefined if the caller sent none
 * @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased`, `precondition_failed`, `external_id_taken`, `external_id_limit_reached`
 */
export async function updateConsumer(
  db: Db,
  { project_id, ref }: NamedConsumer,
  { external_id, ...fields }: ConsumerFields & { external_id?: string },
  { ifMatch, ...editing }: Editing & { ifMatch: string | undefined },
): Promise<Consumer> {
  return untilCurrent(project_id, [ref], async () => {
    const before = changeable(await run(db, findConsumer(db, project_id, ref)))
    requireMatch(ifMatch, before.revision, 'consumer')
    const set = differing(before, fields)
    const added = external_id !== undefined && !before.external_ids.includes(external_id) ? external_id : undefined
    if (Object.keys(set).length === 0 && added === undefined) return before
    const { now } = editing
    const of = { project_id, id: before.id }
    const position = before.external_ids.length
    if (added !== undefined) requireRoomForIds(position + 1)
    try {
      const { rows } = await batch(db, {
        changed: fenced(
          db,
          { project_id, ...before },
          { ...withKeys(set), edits: edited(set, editing, added), updated_at: now },
        ),
        ...(added !== undefined && { id: db.insert(consumerIds).values(idRow(of, added, position, now)) }),
        rows: findConsumer(db, project_id, of),
      })
      return requireConsumer(rows)
    } catch (error) {
      throw isTaken(error) ? taken() : error
    }
  })
}

/** The fields that differ from the consumer's. */
function differing(before: ConsumerFields, fields: ConsumerFields): ConsumerFields {
  const names = Object.keys(fields) as (keyof ConsumerFields)[]
  const changed = names.filter((name) => JSON.stringify(fields[name]) !== JSON.stringify(before[name]))
  return Object.fromEntries(changed.map((name) => [name, fields[name]]))
}

/**
 * An update of a consumer that fails, with its whole batch, if the consumer has changed since it was read: see
 * {@link untilCurrent}.
 *
 * @param also what must hold too; the caller has read that it does
 */
export function fenced(
  db: Db,
  { project_id, id, revision }: ConsumerKey & Pick<Consumer, 'revision'>,
  set: SQLiteUpdateSetSource<typeof consumers>,
  also: SQL = sql`1`,
) {
  // NULL, which the column refuses, if the row is no longer the one that was read.
  const next = sql`CASE WHEN ${consumers.revision} = ${revision} AND ${also} THEN ${consumers.revision} + 1 END`
  return db
    .update(consumers)
    .set({ ...set, revision: next })
    .where(and(eq(consumers.project_id, project_id), eq(consumers.id, id)))
}

/**
 * Reads and writes again if another call changes the consumer in between. Each time, that call has succeeded. But of many
 * calls at once all would read again each time, so those of one isolate take turns, and the number of attempts is limited.
 *
 * @param refs how the call names the consumers that it changes
 * @throws {Fault} `overloaded`
 */
export async function untilCurrent<T>(
  project_id: string,
  refs: readonly ConsumerRef[],
  attempt: () => Promise<T>,
): Promise<T> {
  const keys = refs.map((ref) => `consumer:${project_id}:${'id' in ref ? ref.id : ref.external_id}`)
  const endTurn = await waitForTurn(keys, Date.now() + TURN_WAIT_MS)
  if (endTurn === null) throw tooManyAtOnce()
  try {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      try {
        return await attempt()
      } catch (error) {
        if (!refusedNull(error, consumers.revision)) throw error
      }
    }
    throw tooManyAtOnce()
  } finally {
    endTurn()
  }
}

function tooManyAtOnce(): Fault {
  return new Fault('overloaded', 'Too many calls change this consumer at once. Nothing was changed. Try again.')
}

/** @param count of the external ids that the consumer would have. @throws {Fault} `external_id_limit_reached` */
export function requireRoomForIds(count: number): void {
  if (count <= MAX_EXTERNAL_IDS) return
  throw new Fault('external_id_limit_reached', `A consumer can have ${MAX_EXTERNAL_IDS} external ids.`)
}

/** Whether a statement failed because another consumer has the external id. */
export function isTaken(error: unknown): boolean {
  return refusedTwin(error, consumerIds.project_id)
}

export function taken(): Fault {
  return new Fault(
    'external_id_taken',
    'Another consumer of the project has this external id. Use that consumer, or merge the two.',
  )
}

/** A consumer of a project. */
export type ConsumerKey = { project_id: string; id: string }

/** The row of an external id. @param position among the ids of the consumer */
export function idRow({ project_id, id }: ConsumerKey, external_id: string, position: number, now: number) {
  return { project_id, external_id, consumer_id: id, position, created_at: now }
}

/**
 * Blocks or unblocks a consumer. One that is in this state, and is blocked for the same reason, stays as it is.
 *
 * @param to.reason null if the caller gave none: the reason of a consumer that is blocked already stays
 * @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased`
 */
export async function setBlocked(
  db: Db,
  { project_id, ref }: NamedConsumer,
  { blocked, reason }: { blocked: boolean; reason: string | null },
  change: Change,
): Promise<Consumer> {
  return untilCurrent(project_id, [ref], async () => {
    const before = changeable(await run(db, findConsumer(db, project_id, ref)))
    const state = blocked ? 'blocked' : 'active'
    const blocked_reason = blocked ? (reason ?? before.blocked_reason) : null
    if (before.state === state && before.blocked_reason === blocked_reason) return before
    const changed = fenced(db, { project_id, ...before }, { state, blocked_reason, updated_at: change.now })
    const action = blocked ? 'consumer.blocked' : 'consumer.unblocked'
    const { rows } = await batch(db, {
      ...audited(db, change, entry(project_id, before.id, action, reason === null ? undefined : { reason }), changed),
      rows: findConsumer(db, project_id, before),
    })
    return requireConsumer(rows)
  })
}

const entry = entriesOf('consumer')
