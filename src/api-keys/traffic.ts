import { and, eq, gte, inArray, sql } from 'drizzle-orm'
import { type Db, run } from '../db/client'
import { valuesOf } from '../db/sql'
import { DAY } from '../lib/time'
import { firstStep, numbersOf } from './counts'
import { apiKeyDays } from './schema'

/** Requests with a key, at least: in the last hour, since yesterday (UTC) began, and on the last seven days. */
export type KeyTraffic = { hour: number; recent: number; week: number }

type Keys = { project_id: string; ids: readonly string[]; now: number }

export type KeyTrafficOf = (id: string) => KeyTraffic

/** Reads how much each of these keys of a project is used. There are at most as many as a project can have live ones. */
export async function readKeyTraffic(db: Db, { project_id, ids, now }: Keys): Promise<KeyTrafficOf> {
  const today = Math.floor(now / DAY)
  const from = `at:${firstStep(now)}`
  const { key_id, day, counts } = apiKeyDays
  const stored = await run(
    db,
    db
      .select({
        id: key_id,
        day,
        requests: sql<number>`coalesce(${counts} ->> '$.requests', 0)`,
        hour: sql<number>`(SELECT coalesce(sum(value), 0) FROM json_each(${counts}) WHERE key LIKE 'at:%' AND key >= ${from})`,
      })
      .from(apiKeyDays)
      .where(and(eq(apiKeyDays.project_id, project_id), inArray(key_id, valuesOf(ids)), gte(day, today - 6))),
  )
  const unwritten = ids.flatMap((id) =>
    numbersOf(id).map(({ day, counts }) => {
      const steps = [...counts].filter(([name]) => name.startsWith('at:') && name >= from)
      return { id, day, requests: counts.get('requests') ?? 0, hour: steps.reduce((sum, [, n]) => sum + n, 0) }
    }),
  )
  const days = [...stored, ...unwritten].filter(({ day }) => day >= today - 6)
  return (id) => {
    const own = days.filter((one) => one.id === id)
    const sum = (of: typeof own, by: 'requests' | 'hour') => of.reduce((total, one) => total + one[by], 0)
    const recent = own.filter(({ day }) => day >= today - 1)
    return { hour: sum(own, 'hour'), recent: sum(recent, 'requests'), week: sum(own, 'requests') }
  }
}
