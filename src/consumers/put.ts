import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import type { Change } from '../audit/store'
import { batch, type Db } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { keptWith } from '../idempotency/claim'
import { newId } from '../lib/ids'
import { keysOf } from '../lib/names'
import { type ConsumerKey, idRow, isTaken, taken } from './change'
import { type Editing, edited } from './edits'
import { withKeys } from './names'
import { type Consumer, findConsumer, findSurvivor, requireConsumer } from './read'
import { type ConsumerFields, consumerIds, consumers, EMPTY } from './schema'

type ExternalId = { project_id: string; external_id: string }

/**
 * Creates the consumer with this external id, or changes the one that has it. The same values again write nothing.
 *
 * @returns the consumer, and whether it is new
 */
export async function upsertConsumer(
  db: Db,
  named: ExternalId,
  fields: ConsumerFields,
  editing: Editing,
): Promise<{ consumer: Consumer; created: boolean }> {
  const { now } = editing
  const id = newId('csm', now)
  const { project_id, external_id } = named
  const of = { project_id, id }
  const isMine = and(isId(named), eq(consumerIds.consumer_id, id))
  const mine = db.select({ one: sql`1` }).from(consumerIds).where(isMine)
  const { rows } = await batch(
    db,
    {
      id: db
        .insert(consumerIds)
        .values(idRow(of, external_id, 0, now))
        .onConflictDoNothing(),
      inserted: insertWhere(db, consumers, newRow(of, fields, editing), sql`EXISTS ${mine}`).onConflictDoNothing(),
      ...updates(db, named, fields, editing),
      rows: findConsumer(db, project_id, { external_id }),
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
function updates(db: Db, named: ExternalId, { email, ...rest }: ConsumerFields, editing: Editing) {
  const owner = db.select({ id: consumerIds.consumer_id }).from(consumerIds).where(isId(named))
  const isOwner = and(eq(consumers.project_id, named.project_id), eq(consumers.id, sql`${owner}`))
  const changed = { ...withKeys(rest), updated_at: editing.now, revision: sql`${consumers.revision} + 1` }
  const differs = or(...differences(rest))
  const sameEmail = email === undefined ? undefined : sql`${consumers.email} IS ${email}`
  return {
    ...(differs && {
      changed: db
        .update(consumers)
        .set({ ...changed, edits: edited(rest, editing) })
        .where(and(isOwner, sameEmail, differs)),
    }),
    ...(email !== undefined && {
      moved: db
        .update(consumers)
        .set({ ...changed, email, edits: edited({ email, ...rest }, editing) })
        .where(and(isOwner, sql`${consumers.email} IS NOT ${email}`)),
    }),
  }
}

/** For each of these fields, whether the row has another value. */
function differences(fields: ConsumerFields): SQL[] {
  return Object.entries(fields).map(([name, value]) => {
    const column = consumers[name as keyof ConsumerFields]
    return sql`${column} ${column.notNull ? sql`<>` : sql`IS NOT`} ${sql.param(value, column)}`
  })
}

/** Creates a consumer. @throws {Fault} `external_id_taken` */
export async function insertConsumer(
  db: Db,
  projectId: string,
  { external_id, ...fields }: ConsumerFields & { external_id?: string },
  change: Pick<Change, 'now' | 'actor' | 'claim'>,
): Promise<Consumer> {
  const { now } = change
  const of = { project_id: projectId, id: newId('csm', now) }
  try {
    const { rows } = await batch(db, {
      // First, so that the feed of changes does not say of a new consumer that it was named as well.
      ...(external_id !== undefined && { id: db.insert(consumerIds).values(idRow(of, external_id, 0, now)) }),
      inserted: db.insert(consumers).values(newRow(of, fields, change)),
      ...keptWith(db, change, of.id),
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
  of: ConsumerKey,
  fields: ConsumerFields,
  editing: Editing,
): Promise<{ consumer: Consumer; created: boolean }> {
  const trips = db.meter.trips
  const { inserted, rows } = await batch(
    db,
    {
      inserted: db
        .insert(consumers)
        .values(newRow(of, fields, editing))
        .onConflictDoNothing()
        .returning({ id: consumers.id }),
      rows: findSurvivor(db, of.project_id, of.id),
    },
    { idempotent: true },
  )
  const consumer = rows[0] as Consumer
  // Sent again after an error, it finds what it may have created the first time: then the time tells.
  const wasRepeated = db.meter.trips - trips > 1
  return { consumer, created: inserted.length > 0 || (wasRepeated && consumer.created_at === editing.now) }
}

function newRow(of: ConsumerKey, fields: ConsumerFields, { now, actor }: Editing) {
  const state = { state: 'active' as const, blocked_reason: null, merged_into: null, revision: 1 }
  const name_keys = keysOf(fields.name ?? null)
  return { ...of, ...EMPTY, ...fields, name_keys, ...state, created_at: now, updated_at: now, created_by: actor.id }
}

function isId({ project_id, external_id }: ExternalId): SQL | undefined {
  return and(eq(consumerIds.project_id, project_id), eq(consumerIds.external_id, external_id))
}
