import { and, eq, gte, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { batch, type Db, raw } from '../db/client'
import { CHUNK_ROWS } from '../db/limits'
import { idFloor } from '../lib/ids'
import { PROJECTS_AT_ONCE } from '../tenancy/limits'
import { type PassStart, type PassStep, passStep } from '../tenancy/pass'
import { projects } from '../tenancy/schema'
import { customerMoves } from './customers/schema'
import { grants } from './schema'

const g = alias(grants, 'g')
const v = alias(customerMoves, 'v')

/**
 * Deletes grants that ended before `before` (ms): one step, which walks the grants that were made before then in the order of their
 * ids. No index finds the ended ones, because it would cost a row for each grant that ends.
 *
 * @param from.after a project, and after a space the last of its grants that was walked
 */
export async function purgeGrants(db: Db, { store, after }: PassStart, before: number): Promise<PassStep> {
  const [project = '', grant = ''] = after.split(' ')
  const slice = sql`(SELECT ${projects.id} FROM ${projects}
    WHERE ${and(eq(projects.store, store), gte(projects.id, project))} ORDER BY ${projects.id} LIMIT ${PROJECTS_AT_ONCE}) p`
  const ended = sql`min(coalesce(${g.revoked_at}, ${g.expires_at}), coalesce(${g.expires_at}, ${g.revoked_at})) < ${before}`
  const walk = sql`SELECT ${g.project_id} AS project_id, ${g.consumer_id} AS consumer_id, ${g.id} AS id, ${ended} AS ended
    FROM ${slice} CROSS JOIN ${grants} ${g} INDEXED BY grants_id
    WHERE ${g.project_id} = p.id AND ${g.id} > CASE p.id WHEN ${project} THEN ${grant} ELSE '' END
      AND ${g.id} < ${idFloor('grt', before)} LIMIT ${CHUNK_ROWS}`
  const { last, next, gone } = await batch(db, {
    last: raw(
      db,
      { project: sql<string>`w.project_id`, id: sql<string>`w.id` },
      (fields) => sql`SELECT ${fields} FROM (${walk}) w LIMIT 1 OFFSET ${CHUNK_ROWS - 1}`,
    ),
    next: db
      .select({ id: projects.id })
      .from(projects)
      .where(and(eq(projects.store, store), gte(projects.id, project)))
      .orderBy(projects.id)
      .limit(1)
      .offset(PROJECTS_AT_ONCE - 1),
    gone: db
      .delete(grants)
      .where(
        sql`(${grants.project_id}, ${grants.consumer_id}, ${grants.id}) IN
          (SELECT w.project_id, w.consumer_id, w.id FROM (${walk}) w WHERE w.ended)`,
      )
      .returning({ id: grants.id }),
  })
  const [end] = last
  const [sliceEnd] = next
  // All ids are less than a tilde.
  const rest = sliceEnd ? `${sliceEnd.id} ~` : null
  return { done: gone.length, after: end ? `${end.project} ${end.id}` : rest }
}

/** Deletes the moves of customers before `before` (ms). */
export function purgeMoves(db: Db, from: PassStart, before: number): Promise<PassStep> {
  const { project_id, ref, moved_at, customer, vendor } = customerMoves
  return passStep(db, from, CHUNK_ROWS, (slice) => {
    const chunk = sql`SELECT ${v.project_id}, ${v.ref}, ${v.moved_at}, ${v.customer}, ${v.vendor}
      FROM ${slice} CROSS JOIN ${customerMoves} ${v} INDEXED BY customer_moves_age
      WHERE ${v.project_id} = p.id AND ${v.moved_at} < ${before} LIMIT ${CHUNK_ROWS}`
    const gone = db
      .delete(customerMoves)
      .where(sql`(${project_id}, ${ref}, ${moved_at}, ${customer}, ${vendor}) IN (${chunk})`)
      .returning({ project_id })
    return { gone }
  })
}
