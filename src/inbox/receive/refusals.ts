import { sql } from 'drizzle-orm'
import { batch, type Db } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { addUpCounts } from '../../db/upsert'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { MINUTE } from '../../lib/time'
import { projects } from '../../tenancy/schema'
import { diagnose } from '../diagnoses/diagnose'
import { takeHeld } from '../diagnoses/held'
import { DIAGNOSED_WITHIN } from '../diagnoses/limits'
import { type DiagnosisRow, diagnosesAdded, diagnosesTrimmed } from '../diagnoses/store'
import { minutes } from '../schema'
import { degradedTold } from '../tell'
import { FLUSH_DIED_AFTER_MS, MAX_REFUSAL_COUNTS } from './limits'

/**
 * Counts that this isolate has not written yet, by connection, minute and cause; and when the current flush began (ms;
 * null if none is under way).
 */
type Pending = { counts: Map<string, CountedRefusals>; flushingSince: number | null }
const byStore = new Map<number, Pending>()

/**
 * Counts a refused delivery by its cause. An isolate adds up the counts of a store and writes them at most every ten
 * seconds, and never the bodies: junk can neither fill nor slow down the database that all tenants share. An isolate
 * that is evicted loses the counts of up to ten seconds.
 */
export function countRefusal(rt: Runtime, connection: { id: string; project_id: string }, cause: string): void {
  const minute = Math.floor(rt.now / MINUTE)
  const key = `${connection.id} ${minute} ${cause}`
  const pending = byStore.get(rt.store) ?? { counts: new Map(), flushingSince: null }
  byStore.set(rt.store, pending)
  const entry = pending.counts.get(key)
  if (entry) entry.n += 1
  else if (pending.counts.size < MAX_REFUSAL_COUNTS) {
    pending.counts.set(key, { project_id: connection.project_id, connection_id: connection.id, minute, cause, n: 1 })
  }
  // A request that is cut off takes its flush with it: without a time limit, this isolate would never flush again.
  const diedAfter = rt.settings.refusalFlushMs + FLUSH_DIED_AFTER_MS
  if (pending.flushingSince !== null && rt.now - pending.flushingSince < diedAfter) return
  pending.flushingSince = rt.now
  rt.waitUntil(flush(rt, pending))
}

async function flush(rt: Runtime, pending: Pending): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, rt.settings.refusalFlushMs))
  const counts = [...pending.counts.values()]
  pending.counts = new Map()
  pending.flushingSince = null
  const diagnosed = await diagnoseHeld(rt)
  try {
    await addRefusals(rt.db, counts, diagnosed, Date.now())
  } catch (error) {
    // Counts of junk are not worth keeping while the database is out.
    const refused = counts.reduce((sum, { n }) => sum + n, 0)
    writeLog('warn', 'refusals_not_counted', { refused, error: String(error) })
  }
}

/** Diagnoses the refused deliveries that are held. Of one that cannot be diagnosed, nothing is kept. */
async function diagnoseHeld(rt: Runtime): Promise<DiagnosisRow[]> {
  const found: DiagnosisRow[] = []
  const began = Date.now()
  for (const held of takeHeld(rt.store, began)) {
    if (Date.now() - began > DIAGNOSED_WITHIN) break // a slow database must not lose the counts
    try {
      found.push(await diagnose(rt, held))
    } catch (error) {
      writeLog('warn', 'refusal_not_diagnosed', { connection_id: held.connection.id, error: String(error) })
    }
  }
  return found
}

/** Deliveries of a connection that were refused in a minute (since the epoch), for one cause. */
export type CountedRefusals = { project_id: string; connection_id: string; minute: number; cause: string; n: number }

/** Adds counts of refused deliveries to their minutes, except those of connections whose project is deleted, and tells of those that accept nothing. With them go diagnoses. */
export async function addRefusals(
  db: Db,
  counts: readonly CountedRefusals[],
  diagnosed: readonly DiagnosisRow[],
  now: number,
): Promise<void> {
  const row = {
    project_id: sql`j.value->>'project_id'`,
    minute: sql`j.value->>'minute'`,
    connection_id: sql`j.value->>'connection_id'`,
    refused: sql`json_group_object(j.value->>'cause', j.value->'n')`,
  }
  const known = sql`EXISTS (SELECT 1 FROM ${projects} WHERE ${projects.id} = ${row.project_id} AND ${projects.deleted_at} IS NULL)`
  const each = sql`FROM json_each(${JSON.stringify(counts)}) j WHERE ${known} GROUP BY 1, 2, 3`
  // Those that refuse most are looked at.
  const ids = counts.toSorted((a, b) => b.n - a.n).map(({ connection_id }) => connection_id)
  await batch(db, {
    added: insertFrom(db, minutes, row, sql`${each} ON CONFLICT DO UPDATE SET ${addUpCounts(minutes.refused)}`),
    told: degradedTold(db, ids, now),
    ...(diagnosed.length > 0 && {
      diagnosed: diagnosesAdded(db, diagnosed),
      trimmed: diagnosesTrimmed(db, diagnosed),
    }),
  })
}
