import { and, eq, inArray, isNull, lte, not, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { batch, raw } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { literals } from '../../db/sql'
import type { Runtime } from '../../env'
import type { PassStep } from '../../tenancy/pass'
import { isDeleted } from '../../tenancy/project'
import { VENDOR_NAMES, vendorOf } from '../../vendors'
import { connections } from '../connections/schema'
import { vendorKeys } from '../vendor-api/schema'
import { LEFT_TO_QUEUE_MS, LOOKS_AT_ONCE } from './limits'
import { sendBackfills } from './message'
import { backfills } from './schema'

const b = alias(backfills, 'b')

/** Vendors whose API lists past events. */
const LISTING = VENDOR_NAMES.filter((name) => vendorOf(name)?.api?.pastEvents !== undefined)

/**
 * One step of an hourly pass over connections that have an API key, at vendors that list past events. Sends a message for each connection
 * whose look is due.
 *
 * @param after the connection that the last step came to, as it says; empty: none
 */
export async function startBackfills({ db, fetches, now }: Runtime, after: string): Promise<PassStep> {
  const [project = '', id = ''] = after.split(' ')
  const { project_id, connection_id } = vendorKeys
  const some = sql`SELECT * FROM ${vendorKeys} WHERE (${project_id}, ${connection_id}) > (${project}, ${id})
    ORDER BY ${project_id}, ${connection_id} LIMIT ${LOOKS_AT_ONCE}`
  const isOpen = and(
    eq(connections.id, connection_id),
    isNull(connections.deleted_at),
    eq(connections.status, 'active'),
    inArray(connections.vendor, sql`(${literals(LISTING)})`),
  )
  const from = sql`FROM (${some}) ${vendorKeys} CROSS JOIN ${connections} ON ${isOpen}
    WHERE ${vendorKeys.state} = 'ok' AND ${not(isDeleted(project_id))} ON CONFLICT DO UPDATE SET due_at = excluded.due_at
    WHERE ${backfills.due_at} IS NULL`
  const isDue = and(lte(b.due_at, now), lte(b.lease_until, now), not(isDeleted(b.project_id)))
  const due = sql`SELECT ${b.project_id}, ${b.connection_id} FROM ${backfills} ${b} INDEXED BY backfills_due
    WHERE ${isDue} ORDER BY ${b.due_at} LIMIT ${LOOKS_AT_ONCE}`
  const { next, asked } = await batch(db, {
    made: insertFrom(
      db,
      backfills,
      {
        project_id,
        connection_id,
        missed: sql`'{}'`,
        gaps: sql`'[]'`,
        due_at: sql`CAST(${now} AS INTEGER)`,
        lease_until: sql`0`,
      },
      from,
    ),
    next: raw(db, { project_id, connection_id }, (fields) => sql`SELECT ${fields} FROM (${some}) ${vendorKeys}`),
    // Until then, they are left to the Queue.
    asked: db
      .update(backfills)
      .set({ due_at: now + LEFT_TO_QUEUE_MS })
      .where(sql`(${backfills.project_id}, ${backfills.connection_id}) IN (${due})`)
      .returning({ project_id: backfills.project_id, connection_id: backfills.connection_id }),
  })
  await sendBackfills(fetches, asked)
  const last = next.at(-1)
  const isDone = (!last || next.length < LOOKS_AT_ONCE) && asked.length < LOOKS_AT_ONCE
  return { done: asked.length, after: isDone || !last ? null : `${last.project_id} ${last.connection_id}` }
}
