import { sql } from 'drizzle-orm'
import { type Db, raw } from '../../db/client'
import { idFloor } from '../../lib/ids'
import { hasMutes, isMutedOf } from '../mutes/mutes'
import { NO_CODE } from '../mutes/schema'
import { PREFIX_OF } from '../sources'
import { e, failedOf } from './failures'
import { MAX_FAILURES } from './limits'

/** Failed events of a connection, by whether their causes are muted. `recent`: those that were received since a time. */
type Counted = { connection_id: string; is_muted: boolean; n: number; recent: number }

/** Which failed events nobody is to be told of, and how many others there are. */
export type Attention = {
  /** Failed events that need attention. With muted causes, only the newest {@link MAX_FAILURES} are looked at. */
  told: number
  muted: number
  /** Muted ones that were received since the time of {@link countByMute}: all, and by the ids of their connections. */
  recent: number
  recentOf: ReadonlyMap<string, number>
}

/**
 * Counts the newest failed events of a project by whether their causes are muted. It reads none while no cause is: then all of them
 * need attention.
 *
 * @param since ms
 */
export function countByMute(db: Db, project: string, since: number, now: number) {
  const most = sql`CASE WHEN ${hasMutes(project, 'failed', now)} THEN ${sql.raw(String(MAX_FAILURES))} ELSE 0 END`
  const isRecent = sql`${e.id} >= ${idFloor(PREFIX_OF.delivery, since)}`
  const newest = sql`SELECT ${e.connection_id} AS connection_id, coalesce(${e.last_error_code}, ${NO_CODE}) AS code, ${isRecent} AS recent
    ${failedOf(project)} ORDER BY ${e.id} DESC LIMIT ${most}`
  const causes = sql`SELECT connection_id, code, count(*) AS n, sum(recent) AS recent FROM (${newest}) GROUP BY 1, 2`
  const isMuted = isMutedOf({ project_id: sql`${project}`, id: sql`t.connection_id` }, 'failed', now, sql`t.code`)
  const fields = {
    connection_id: sql<string>`t.connection_id`,
    is_muted: isMuted.mapWith(Boolean),
    n: sql<number>`sum(t.n)`,
    recent: sql<number>`sum(t.recent)`,
  }
  return raw(db, fields, (list) => sql`SELECT ${list} FROM (${causes}) t GROUP BY 1, 2`)
}

/** @param failed all failed events of the project @param counted as {@link countByMute} counts them */
export function attentionIn(failed: number, counted: readonly Counted[]): Attention {
  const sum = (rows: readonly Counted[], of: 'n' | 'recent' = 'n') => rows.reduce((total, row) => total + row[of], 0)
  const muted = counted.filter(({ is_muted }) => is_muted)
  return {
    told: muted.length === 0 ? failed : sum(counted) - sum(muted),
    muted: sum(muted),
    recent: sum(muted, 'recent'),
    recentOf: new Map(muted.map(({ connection_id, recent }) => [connection_id, recent])),
  }
}
