import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { changes } from '../changes/schema'
import type { Db } from '../db/client'
import { CHUNK_ROWS } from '../db/limits'
import { deliveries, deliveryRuns, resends, webhookEndpoints } from '../followers/schema'
import { idFloor } from '../lib/ids'
import { DAY } from '../lib/time'
import { type PassStart, type PassStep, passStep } from '../tenancy/pass'
import { LOG_DAYS } from './limits'

const c = alias(changes, 'c')
const e = alias(webhookEndpoints, 'e')

/** Deletes the log of attempts that were made more than {@link LOG_DAYS} ago, or to an endpoint that was deleted. */
export function purgeDeliveryRuns(db: Db, from: PassStart, now: number): Promise<PassStep> {
  const { id } = deliveryRuns
  return purge(db, from, { table: deliveryRuns, key: id, isOld: sql`${id} < ${idFloor('whr', now - LOG_DAYS * DAY)}` })
}

/** Deletes deliveries of changes that the feed no longer has, or to an endpoint that was deleted. */
export function purgeDeliveries(db: Db, from: PassStart): Promise<PassStep> {
  const { project_id, seq } = deliveries
  const oldest = sql`(SELECT ${c.seq} - json_array_length(${c.items}) + 1 FROM ${changes} ${c}
    WHERE ${c.project_id} = ${project_id} ORDER BY ${c.seq} LIMIT 1)`
  return purge(db, from, { table: deliveries, key: seq, isOld: sql`${seq} < ${oldest}` })
}

/** Deletes resends that were done more than {@link LOG_DAYS} ago, or to an endpoint that was deleted. */
export function purgeResends(db: Db, from: PassStart, now: number): Promise<PassStep> {
  const { id, finished_at } = resends
  return purge(db, from, { table: resends, key: id, isOld: sql`${finished_at} < ${now - LOG_DAYS * DAY}` })
}

type Purged = { key: SQL | typeof deliveries.seq | typeof resends.id | typeof deliveryRuns.id; isOld: SQL } & {
  table: typeof deliveries | typeof deliveryRuns | typeof resends
}

/** One step. It goes from endpoint to endpoint along the key of the table, and where a project has nothing, it costs one row. */
function purge(db: Db, from: PassStart, { table, key, isOld }: Purged): Promise<PassStep> {
  return passStep(db, from, CHUNK_ROWS, (slice) => {
    const { project_id, endpoint_id } = table
    const nextOf = (project: SQL, after: SQL) =>
      sql`(SELECT min(${endpoint_id}) FROM ${table} WHERE ${project_id} = ${project} AND ${endpoint_id} > ${after})`
    const has = sql`WITH RECURSIVE has(project, endpoint) AS (
      SELECT p.id, ${nextOf(sql`p.id`, sql`''`)} FROM ${slice} UNION ALL
      SELECT project, ${nextOf(sql`has.project`, sql`has.endpoint`)} FROM has WHERE endpoint IS NOT NULL)`
    const isOrphan = sql`NOT EXISTS (SELECT 1 FROM ${webhookEndpoints} ${e} WHERE ${e.project_id} = has.project AND ${e.id} = has.endpoint)`
    const chunk = sql`${has} SELECT ${project_id}, ${endpoint_id}, ${key} FROM has CROSS JOIN ${table}
      WHERE ${project_id} = has.project AND ${endpoint_id} = has.endpoint AND (${isOld} OR ${isOrphan})
      ORDER BY ${project_id} LIMIT ${CHUNK_ROWS}`
    const gone = db
      .delete(table)
      .where(sql`(${project_id}, ${endpoint_id}, ${key}) IN (${chunk})`)
      .returning({ project_id })
    return { gone }
  })
}
