import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { changes } from '../changes/schema'
import type { Db } from '../db/client'
import { CHUNK_ROWS } from '../db/limits'
import { DAY } from '../lib/time'
import { type PassStart, type PassStep, passStep } from '../tenancy/pass'
import { KEPT_DAYS } from './limits'

const c = alias(changes, 'c')
const kept = alias(changes, 'kept')

/**
 * Deletes changes that are older than {@link KEPT_DAYS}. The newest row of a project stays, whatever its age: the next number follows
 * from it. Where nothing is too old, a project costs one row.
 */
export function purgeChanges(db: Db, from: PassStart, now: number): Promise<PassStep> {
  return passStep(db, from, CHUNK_ROWS, (slice) => {
    // Rows are in the order of their times. Of the first so many, those before the first that stays go: a project with more that are
    // too old has its next turn.
    const first = sql`(SELECT ${kept.seq} AS seq, ${kept.at} AS at FROM ${changes} ${kept}
      WHERE ${kept.project_id} = p.id ORDER BY ${kept.seq} LIMIT ${CHUNK_ROWS + 1})`
    const firstKept = sql`(SELECT seq FROM ${first} WHERE at >= ${now - KEPT_DAYS * DAY} LIMIT 1)`
    const newest = sql`(SELECT max(seq) FROM ${first})`
    const chunk = sql`SELECT ${c.project_id}, ${c.seq} FROM ${slice} CROSS JOIN ${changes} ${c}
      WHERE ${c.project_id} = p.id AND ${c.seq} < coalesce(${firstKept}, ${newest}) ORDER BY p.id, ${c.seq} LIMIT ${CHUNK_ROWS}`
    const gone = db
      .delete(changes)
      .where(sql`(${changes.project_id}, ${changes.seq}) IN (${chunk})`)
      .returning({ project_id: changes.project_id })
    return { gone }
  })
}
