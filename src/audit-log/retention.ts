import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditLog } from '../audit/schema'
import { batch, type Db, type Directory } from '../db/client'
import { CHUNK_ROWS } from '../db/limits'
import { idFloor } from '../lib/ids'
import { type PassStartOfAny, type PassStep, passStep } from '../tenancy/pass'

const a = alias(auditLog, 'a')

/** Entries that one step looks at. */
const AT_ONCE = 2000

/**
 * Removes the addresses of invitations from entries that older versions wrote. This is one step over the entries of the
 * directory that follow `after`, a key: erasing a user must not depend on how many entries there are.
 *
 * @returns the key after which the next step continues; null once all are done
 */
export async function removeAddresses(
  directory: Directory,
  after: string,
): Promise<{ done: number; after: string | null }> {
  const [project = '', id = ''] = after.split(' ')
  const { project_id } = a
  const keys = sql`SELECT ${project_id}, ${a.id} FROM ${auditLog} ${a}
    WHERE (${project_id}, ${a.id}) > (${project}, ${id}) ORDER BY ${project_id}, ${a.id} LIMIT ${AT_ONCE}`
  const key = sql<string>`${project_id} || ' ' || ${a.id}`.as('key')
  const { removed, last } = await batch(directory, {
    removed: directory
      .update(auditLog)
      .set({ details: sql`json_remove(${auditLog.details}, '$.email')` })
      .where(
        sql`(${auditLog.project_id}, ${auditLog.id}) IN (${keys}) AND ${auditLog.object_type} = 'invitation'
          AND ${auditLog.details} ->> '$.email' IS NOT NULL`,
      )
      .returning({ id: auditLog.id }),
    last: directory
      .select({ key })
      .from(a)
      .where(sql`(${project_id}, ${a.id}) > (${project}, ${id})`)
      .orderBy(project_id, a.id)
      .limit(1)
      .offset(AT_ONCE - 1),
  })
  return { done: removed.length, after: last[0]?.key ?? null }
}

/** Deletes entries of projects from before `before` (ms). */
export function purgeAudit(db: Db, from: PassStartOfAny, before: number): Promise<PassStep> {
  return passStep(db, from, CHUNK_ROWS, (slice) => {
    const chunk = sql`SELECT ${a.project_id}, ${a.id} FROM ${slice} CROSS JOIN ${auditLog} ${a}
      WHERE ${a.project_id} = p.id AND ${a.id} < ${idFloor('aud', before)} LIMIT ${CHUNK_ROWS}`
    const gone = db
      .delete(auditLog)
      .where(sql`(${auditLog.project_id}, ${auditLog.id}) IN (${chunk})`)
      .returning({ project_id: auditLog.project_id })
    return { gone }
  })
}
