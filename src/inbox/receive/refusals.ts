import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { MINUTE } from '../../lib/time'
import { addRefusals, type Refusals } from './refusals-store'

const MAX_ENTRIES = 5_000

/** Refused deliveries not written yet, by connection, minute and cause; in this isolate. */
let pending = new Map<string, Refusals>()
let flushing = false

/**
 * Counts a refused delivery by its cause. Counts are summed in the isolate and written every ten seconds at most, and
 * the bodies never are: junk can neither fill nor slow the database that all tenants share. An isolate that is
 * evicted takes up to ten seconds of counts with it.
 */
export function countRefusal(rt: Runtime, connection: { id: string; project_id: string }, cause: string): void {
  const minute = Math.floor(rt.now / MINUTE)
  const key = `${connection.id} ${minute} ${cause}`
  const entry = pending.get(key)
  if (entry) entry.n += 1
  else if (pending.size < MAX_ENTRIES) {
    pending.set(key, { project_id: connection.project_id, connection_id: connection.id, minute, cause, n: 1 })
  }
  if (flushing) return
  flushing = true
  rt.waitUntil(flush(rt))
}

async function flush(rt: Runtime): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, rt.settings.refusalFlushMs))
  const counts = [...pending.values()]
  pending = new Map()
  flushing = false
  try {
    await addRefusals(rt.db, counts)
  } catch (error) {
    // Counts of junk: not worth holding on to while the database is out.
    writeLog('warn', 'refusals_not_counted', {
      refused: counts.reduce((sum, { n }) => sum + n, 0),
      error: String(error),
    })
  }
}
