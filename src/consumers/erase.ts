import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { audited, type Change } from '../audit/store'
import { batch, type Db, raw } from '../db/client'
import type { Runtime } from '../env'
import { ifAnswered } from '../http/read'
import { identitiesGone } from '../identities/identities'
import { newId } from '../lib/ids'
import { type ConsumerKey, fenced, untilCurrent } from './change'
import { customerLinks, customerMoves } from './customers/schema'
import { deleteDevices } from './devices'
import { reasonsErased } from './grants'
import { IDENTITIES_AFTER } from './limits'
import { withKeys } from './names'
import { consumerIdOf, findConsumer, listMerged, mergedInto, requireConsumer } from './read'
import type { ConsumerRef, NamedConsumer } from './ref'
import { consumerIds, consumers, EMPTY, type ErasureCursor, erasures } from './schema'

const c = alias(consumers, 'c')
const e = alias(erasures, 'e')
const i = alias(consumerIds, 'i')
const l = alias(customerLinks, 'l')

const shown = {
  id: e.id,
  consumer_id: e.consumer_id,
  removed: e.removed,
  requested_at: e.requested_at,
  finished_at: e.finished_at,
}

/** Where the first pass of an erasure begins. */
export const START: ErasureCursor = { phase: 'customers', customer: '', vendor: '', kind: '', id: '', left: 0 }

/** An erasure of a consumer. */
export type Erasure = ReturnType<typeof findErasure>['_']['result'][number]

/** Reads the erasure of a consumer, also for one that had been merged into the erased one. */
export function findErasure(db: Db, projectId: string, ref: ConsumerRef) {
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM ${consumers} ${c}
      CROSS JOIN ${erasures} ${e} ON ${e.project_id} = ${c.project_id} AND ${e.id} = ${c.erasure_id}
      WHERE ${c.project_id} = ${projectId} AND ${c.id} = ${consumerIdOf(projectId, ref)}`,
  )
}

/**
 * Erases a consumer, in its store and then in the directory. If the directory does not answer, the cron deletes what it has:
 * see upkeep/erasures.ts.
 *
 * @throws {Fault} `not_found`, `consumer_merged`
 */
export async function eraseConsumer({ db, directory }: Runtime, of: NamedConsumer, change: Change): Promise<Erasure> {
  const { erasure, erased } = await eraseInStore(db, of, change)
  if (erased.length > 0) await ifAnswered(directory, identitiesGone(directory, of.project_id, erased))
  return erasure
}

/**
 * Erases a consumer, and the consumers that were merged into it. The cron erases what vendors have sent about its
 * customers: see upkeep/erasures.ts. A consumer that was erased stays as it is. What the directory has about the
 * consumer comes after it.
 *
 * @returns the erasure, and the consumers that this call has erased
 * @throws {Fault} `not_found`, `consumer_merged`
 */
async function eraseInStore(
  db: Db,
  { project_id, ref }: NamedConsumer,
  change: Change,
): Promise<{ erasure: Erasure; erased: readonly string[] }> {
  return untilCurrent(project_id, [ref], async () => {
    const found = await batch(db, {
      rows: findConsumer(db, project_id, ref),
      erasure: findErasure(db, project_id, ref),
      merged: listMerged(db, project_id, ref),
    })
    const before = requireConsumer(found.rows)
    const [earlier] = found.erasure
    if (earlier) return { erasure: earlier, erased: [] }
    const { now } = change
    const of = { project_id, id: before.id }
    const id = newId('ers', now)
    const erased = [before.id, ...found.merged.map((row) => row.id)]
    const gone = {
      ...withKeys(EMPTY),
      state: 'erased' as const,
      blocked_reason: null,
      merged_into: null,
      erasure_id: id,
      edits: null,
      updated_at: now,
    }
    const entry = { project_id, action: 'consumer.erased', object_type: 'consumer', object_id: before.id }
    const { erasure } = await batch(db, {
      // First the one that fails the batch if the consumer has changed.
      ...audited(db, change, { ...entry, details: { erasure: id } }, fenced(db, { project_id, ...before }, gone)),
      merged: db
        .update(consumers)
        .set({ ...gone, revision: sql`${consumers.revision} + 1` })
        .where(and(eq(consumers.project_id, project_id), inArray(consumers.id, mergedInto(project_id, before.id)))),
      customers: eraseCustomers(db, of, id),
      recorded: db.insert(erasures).values({
        project_id,
        id,
        consumer_id: before.id,
        requested_at: now,
        ...dueFor(of, id, now),
        cursor: { ...START, consumers: erased },
      }),
      ...deleteOwned(db, of),
      erasure: findErasure(db, project_id, of),
    })
    return { erasure: erasure[0] as Erasure, erased }
  })
}

/**
 * Takes what events have said from the customers of a consumer, and pins them to its erasure. The pin keeps events from saying it again.
 * All of them at once, however many: an external id that is gone finds no customer later.
 */
function eraseCustomers(db: Db, of: ConsumerKey, erasure: string) {
  const { project_id, customer, vendor } = customerLinks
  return db
    .update(customerLinks)
    .set({ said: null, said_rank: null, hint: null, hint_rank: null, pinned: erasure })
    .where(and(eq(project_id, of.project_id), sql`(${customer}, ${vendor}) IN (${customersOf(of)})`))
}

/**
 * When the cron has to look at an erasure: now. Without customers it is finished, because a customer cannot be linked to it
 * later. Then only the identities are left to look at.
 */
function dueFor({ project_id }: ConsumerKey, erasure: string, now: number) {
  const without = sql`NOT EXISTS (SELECT 1 FROM ${customerLinks} ${l} INDEXED BY customer_links_pinned
    WHERE ${l.project_id} = ${project_id} AND ${l.pinned} = ${erasure})`
  return {
    finished_at: sql`CASE WHEN ${without} THEN ${now} END`,
    due_at: sql`CASE WHEN ${without} THEN ${now + IDENTITIES_AFTER} ELSE ${now} END`,
  }
}

/** The external ids of a consumer, as a subquery. */
function idsOf({ project_id, id }: ConsumerKey): SQL {
  return sql`SELECT ${i.external_id} FROM ${consumerIds} ${i} INDEXED BY consumer_ids_consumer
    WHERE ${i.project_id} = ${project_id} AND ${i.consumer_id} = ${id}`
}

function customersOf({ project_id, id }: ConsumerKey): SQL {
  return sql`SELECT ${l.customer}, ${l.vendor} FROM ${customerLinks} ${l} INDEXED BY customer_links_pinned
      WHERE ${l.project_id} = ${project_id} AND ${l.pinned} = ${id}
    UNION ALL SELECT ${l.customer}, ${l.vendor} FROM ${customerLinks} ${l} INDEXED BY customer_links_ref
      WHERE ${l.project_id} = ${project_id} AND ${l.ref} IS NOT NULL AND ${l.ref} IN (${idsOf({ project_id, id })})`
}

/** Deletes the rows of other tables that end with their consumer. A new table with such rows has its statement here. */
function deleteOwned(db: Db, { project_id, id }: ConsumerKey) {
  return {
    // Found by the external ids, so before they are gone.
    moves: db
      .delete(customerMoves)
      .where(
        and(
          eq(customerMoves.project_id, project_id),
          sql`${customerMoves.ref} IN (${idsOf({ project_id, id })} UNION ALL SELECT ${id})`,
        ),
      ),
    ids: db.delete(consumerIds).where(and(eq(consumerIds.project_id, project_id), eq(consumerIds.consumer_id, id))),
    devices: deleteDevices(db, project_id, id),
    reasons: reasonsErased(db, project_id, id),
  }
}
