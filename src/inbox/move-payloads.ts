import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { batch, type Db } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { state } from '../stores/schema'
import type { PassStep } from '../tenancy/pass'
import { MOVED_BYTES, MOVED_PAYLOADS } from './limits'
import { bodies, payloads } from './schema'

const y = alias(payloads, 'y')
const { project_id, id, body, headers } = y

/**
 * Moves a chunk of `payloads` to `bodies`, in one transaction: as many as have {@link MOVED_BYTES} together, but at
 * least one. An empty table costs two statements that read nothing.
 */
export async function movePayloads(db: Db, now: number): Promise<PassStep> {
  const mayMove = sql`NOT EXISTS (SELECT 1 FROM ${state} WHERE ${state.name} = 'payloads_move_from' AND ${state.value} > ${now})`
  // The inner query takes the sizes, so that no body passes through the sum.
  const first = sql`SELECT ${project_id}, ${id}, octet_length(${body}) AS bytes FROM ${payloads} ${y} WHERE ${mayMove}
    ORDER BY ${project_id}, ${id} LIMIT ${MOVED_PAYLOADS}`
  const chunk = sql`(SELECT project_id, id FROM (
    SELECT *, sum(bytes) OVER (ORDER BY project_id, id ROWS UNBOUNDED PRECEDING) AS total FROM (${first}))
    WHERE total <= ${MOVED_BYTES} OR total = bytes)`
  const { gone } = await batch(db, {
    moved: insertFrom(
      db,
      bodies,
      { project_id, id, headers, body },
      sql`FROM ${chunk} c CROSS JOIN ${payloads} ${y} ON ${project_id} = c.project_id AND ${id} = c.id
        WHERE true ON CONFLICT DO NOTHING`,
    ),
    gone: db
      .delete(payloads)
      .where(sql`(${payloads.project_id}, ${payloads.id}) IN ${chunk}`)
      .returning({ id: payloads.id }),
  })
  return { done: gone.length, after: gone.length === 0 ? null : '' }
}
