import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import { batch, type Db, run } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { refusedNull, refusedTwin } from '../db/refused'
import { requireMatch } from '../http/etag'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'

import { MAX_ATTEMPTS, MAX_EXTERNAL_IDS } from './limits'

import type { ConsumerRef } from './ref'
import { consumerIds, consumers, type Metadata } from './schema'
import { type Consumer, changeable, findConsumer, findSurvivor, requireConsumer } from './store'

/** What a caller sets of a consumer; undefined stays as it is, null is cleared. The email address is in lower case. */
export type Fields = { email?: string | null; name?: string | null; metadata?: Metadata }

/**
 * Creates the consumer with this external id, or changes the one that has it. The same values again write nothing.
 *
 * @returns the consumer, and whether it is new
 */
export async function upsertConsumer(
  db: Db,
  projectId: string,
  external_id: string,
  fields: Fields,
  now: number,
): Promise<{ consumer: Consumer; created: boolean }> {
  const id = newId('csm', now)
  const of = { project_id: projectId, id }
  const isMine = and(isId(projectId, external_id), eq(consumerIds.consumer_id, id))
  const mine = db.select({ one: sql`1` }).from(consumerIds).where(isMine)
  const { rows } = await batch(
    db,
    {
      id: db
        .insert(consumerIds)
        .values(idRow(of, external_id, 0, now))
        .onConflictDoNothing(),
      inserted: insertWhere(db, consumers, newRow(of, fields, now), sql`EXISTS ${mine}`).onConflictDoNothing(),
      ...updates(db, projectId, external_id, fields, now),
      rows: findConsumer(db, projectId, { external_id }),
    },
    { idempotent: true },
  )
  const consumer = requireConsumer(rows)
  return { consumer, created: consumer.id === id }
}

/**
 * The updates of an upsert, of which at most one changes the row. An update without the email address writes no index:
 * SQLite writes the index of every column that is set, even if the value stays the same.
 */
function updates(db: Db, projectId: string, external_id: string, { email, ...rest }: Fields, now: number) {
  const owner = db.select({ id: consumerIds.consumer_id }).from(consumerIds).where(isId(projectId, external_id))
  const isOwner = and(eq(consumers.project_id, projectId), eq(consumers.id, sql`${owner}`))
  const changed = { ...rest, updated_at: now, revision: sql`${consumers.revision} + 1` }
  const { name, metadata } = rest
  const differs = or(
    name === undefined ? undefined : sql`${consumers.name} IS NOT ${name}`,
    metadata === undefined ? undefined : sql`${consumers.metadata} <> ${JSON.stringify(metadata)}`,
  )
  const sameEmail = email === undefined ? undefined : sql`${consumers.email} IS ${email}`
  return {
    ...(differs && {
      changed: db
        .update(consumers)
        .set(changed)
        .where(and(isOwner, sameEmail, differs)),
    }),
    ...(email !== undefined && {
      moved: db
        .update(consumers)
        .set({ ...changed, email })
        .where(and(isOwner, sql`${consumers.email} IS NOT ${email}`)),
    }),
  }
}

/** Creates a consumer. @throws {Fault} `external_id_taken` */
export async function insertConsumer(
  db: Db,
  projectId: string,
  { external_id, ...fields }: Fields & { external_id?: string },
  now: number,
): Promise<Consumer> {
  const of = { project_id: projectId, id: newId('csm', now) }
  try {
    const { rows } = await batch(db, {
      inserted: db.insert(consumers).values(newRow(of, fields, now)),
      ...(external_id !== undefined && { id: db.insert(consumerIds).values(idRow(of, external_id, 0, now)) }),
      rows: findConsumer(db, projectId, of),
    })
    return requireConsumer(rows)
  } catch (error) {
    throw isTaken(error) ? taken() : error
  }
}

/**
 * Creates a consumer under an id that another row names already, unless it is there. It can be repeated.
 *
 * @returns the consumer as it is then; of one that was merged, the survivor. `created`: whether it was not there before
 */
export async function ensureConsumer(
  db: Db,
  of: Own,
  fields: Fields,
  now: number,
): Promise<{ consumer: Consumer; created: boolean }> {
  const trips = db.meter.trips
  const { inserted, rows } = await batch(
    db,
    {
      inserted: db
        .insert(consumers)
        .values(newRow(of, fields, now))
        .onConflictDoNothing()
        .returning({ id: consumers.id }),
      rows: findSurvivor(db, of.project_id, of.id),
    },
    { idempotent: true },
  )
  const consumer = rows[0] as Consumer
  // Sent again after an error, it finds what it may have created the first time: then the time tells.
  const wasRepeated = db.meter.trips - trips > 1
  return { consumer, created: inserted.length > 0 || (wasRepeated && consumer.created_at === now) }
}

/**
 * Changes a consumer, and gives it another external id if there is one. The same values again write nothing.
 *
 * @param ifMatch the header; undefined if the caller sent none
 * @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased`, `precondition_failed`, `external_id_taken`, `external_id_limit_reached`
 */
export async function updateConsumer(
  db: Db,
  { project_id, ref }: { project_id: string; ref: ConsumerRef },
  { external_id, ...fields }: Fields & { external_id?: string },
  { ifMatch, now }: { ifMatch: string | undefined; now: number },
): Promise<Consumer> {
  return untilCurrent(async () => {
    const before = changeable(await run(db, findConsumer(db, project_id, ref)))
    requireMatch(ifMatch, before.revision, 'consumer')
    const set = differing(before, fields)
    const added = external_id !== undefined && !before.external_ids.includes(external_id) ? external_id : undefined
    if (Object.keys(set).length === 0 && added === undefined) return before
    const of = { project_id, id: before.id }
    const position = before.external_ids.length
    if (added !== undefined) requireRoom(position + 1)
    try {
      const { rows } = await batch(db, {
        changed: fenced(db, project_id, before, { ...set, updated_at: now }),
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
function differing(before: Consumer, { email, name, metadata }: Fields): Fields {
  return {
    ...(email !== undefined && email !== before.email && { email }),
    ...(name !== undefined && name !== before.name && { name }),
    ...(metadata !== undefined && JSON.stringify(metadata) !== JSON.stringify(before.metadata) && { metadata }),
  }
}

/**
 * An update of a consumer that fails, with its whole batch, if the consumer has changed since it was read: see
 * {@link untilCurrent}.
 *
 * @param also what must hold too; the caller has read that it does
 */
export function fenced(
  db: Db,
  projectId: string,
  { id, revision }: Pick<Consumer, 'id' | 'revision'>,
  set: Partial<typeof consumers.$inferInsert>,
  also: SQL = sql`1`,
) {
  // NULL, which the column refuses, if the row is no longer the one that was read.
  const next = sql`CASE WHEN ${consumers.revision} = ${revision} AND ${also} THEN ${consumers.revision} + 1 END`
  return db
    .update(consumers)
    .set({ ...set, revision: next })
    .where(and(eq(consumers.project_id, projectId), eq(consumers.id, id)))
}

/**
 * Reads and writes again if another call changes the consumer in between. Each time, that call has succeeded. But of many
 * calls at once all read again each time, so their number of attempts is limited.
 *
 * @throws {Fault} `overloaded`
 */
export async function untilCurrent<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      if (!refusedNull(error, consumers.revision)) throw error
    }
  }
  throw new Fault('overloaded', 'Too many calls change this consumer at once. Nothing was changed. Try again.')
}

/** @param count of the external ids that the consumer would have. @throws {Fault} `external_id_limit_reached` */
export function requireRoom(count: number): void {
  if (count <= MAX_EXTERNAL_IDS) return
  throw new Fault('external_id_limit_reached', `A consumer can have ${MAX_EXTERNAL_IDS} external ids.`)
}

function isTaken(error: unknown): boolean {
  return refusedTwin(error, consumerIds.project_id)
}

function taken(): Fault {
  return new Fault(
    'external_id_taken',
    'Another consumer of the project has this external id. Use that consumer, or merge the two.',
  )
}

type Own = { project_id: string; id: string }

function newRow(of: Own, { email = null, name = null, metadata = {} }: Fields, now: number) {
  const state = { state: 'active' as const, blocked_reason: null, merged_into: null, revision: 1 }
  return { ...of, email, name, metadata, ...state, created_at: now, updated_at: now }
}

function idRow({ project_id, id }: Own, external_id: string, position: number, now: number) {
  return { project_id, external_id, consumer_id: id, position, created_at: now }
}

function isId(projectId: string, external_id: string): SQL | undefined {
  return and(eq(consumerIds.project_id, projectId), eq(consumerIds.external_id, external_id))
}
