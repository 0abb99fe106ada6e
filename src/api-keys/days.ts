import { and, desc, eq, gte, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db, Query } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { CHUNK_ROWS } from '../db/limits'
import { DAY } from '../lib/time'
import { type PassStart, type PassStep, passStep } from '../tenancy/pass'
import { type DayOfKey, firstStep } from './counts'
import { MAX_DAY_AGENTS, MAX_DAY_COUNTS, MAX_DAY_NETWORKS, MAX_REFUSED_CALLS, USE_DAYS } from './limits'
import { apiKeyDays, apiKeys } from './schema'

const d = alias(apiKeyDays, 'd')

/** Adds to the use of a key on a day: one row, whichever isolate counted it. A project that was purged gets none. */
export function addToDay(db: Db, id: string, { day, counts, seen }: DayOfKey, now: number): Query<void> {
  const row = {
    project_id: apiKeys.project_id,
    key_id: apiKeys.id,
    day: sql`CAST(${day} AS INTEGER)`,
    counts: sql`${JSON.stringify(counts)}`,
    seen: sql`${JSON.stringify(seen)}`,
  }
  const merged = sql`json_object(
    'networks', ${newest('networks', 'hash', MAX_DAY_NETWORKS)},
    'agents', ${newest('agents', 'name', MAX_DAY_AGENTS)},
    'calls', ${newest('calls', 'request_id', MAX_REFUSED_CALLS)})`
  return insertFrom(
    db,
    apiKeyDays,
    row,
    sql`FROM ${apiKeys} WHERE ${apiKeys.id} = ${id} ON CONFLICT DO UPDATE SET counts = ${summed(now)}, seen = ${merged}`,
  )
}

/** Adds up both counts. The ones that are always needed come first, then the largest. */
function summed(now: number): SQL {
  return sql`(SELECT json_group_object(k, v) FROM (SELECT key AS k, sum(value) AS v
    FROM (SELECT key, value FROM json_each(${apiKeyDays.counts}) UNION ALL SELECT key, value FROM json_each(excluded.counts))
    WHERE key NOT LIKE 'at:%' OR key >= ${`at:${firstStep(now)}`}
    GROUP BY key ORDER BY key = 'requests' DESC, key LIKE 'at:%' DESC, v DESC LIMIT ${MAX_DAY_COUNTS}))`
}

/** The newest of both lists, each once. */
function newest(list: string, by: string, most: number): SQL {
  const [path, key] = [`$.${list}`, `$.${by}`]
  return sql`(SELECT json_group_array(json(v)) FROM (SELECT value AS v, max(value ->> '$.at') AS at
    FROM (SELECT value FROM json_each(${apiKeyDays.seen}, ${path}) UNION ALL SELECT value FROM json_each(excluded.seen, ${path}))
    GROUP BY value ->> ${key} ORDER BY at DESC LIMIT ${most}))`
}

/** Reads the use of a key on its last days, the newest first. */
export function readDays(db: Db, { project_id, id }: { project_id: string; id: string }, since: number) {
  const { day, counts, seen } = apiKeyDays
  return db
    .select({ day, counts, seen })
    .from(apiKeyDays)
    .where(and(eq(apiKeyDays.project_id, project_id), eq(apiKeyDays.key_id, id), gte(day, since)))
    .orderBy(desc(day))
}

/** Deletes the use of keys on days that are more than {@link USE_DAYS} ago. It goes from key to key, and skips what it keeps. */
export function purgeKeyDays(db: Db, from: PassStart, now: number): Promise<PassStep> {
  return passStep(db, from, CHUNK_ROWS, (slice) => {
    const { project_id, key_id, day } = apiKeyDays
    const nextOf = (project: SQL, after: SQL) =>
      sql`(SELECT min(${d.key_id}) FROM ${apiKeyDays} ${d} WHERE ${d.project_id} = ${project} AND ${d.key_id} > ${after})`
    const has = sql`WITH RECURSIVE has(project, key) AS (
      SELECT p.id, ${nextOf(sql`p.id`, sql`''`)} FROM ${slice} UNION ALL
      SELECT project, ${nextOf(sql`has.project`, sql`has.key`)} FROM has WHERE key IS NOT NULL)`
    const chunk = sql`${has} SELECT ${d.project_id}, ${d.key_id}, ${d.day} FROM has CROSS JOIN ${apiKeyDays} ${d}
      WHERE ${d.project_id} = has.project AND ${d.key_id} = has.key AND ${d.day} < ${Math.floor(now / DAY) - USE_DAYS}
      LIMIT ${CHUNK_ROWS}`
    const gone = db
      .delete(apiKeyDays)
      .where(sql`(${project_id}, ${key_id}, ${day}) IN (${chunk})`)
      .returning({ project_id })
    return { gone }
  })
}
