import type { Effect } from '../../billing/effect'
import type { Runtime } from '../../env'
import { processEvents } from '../process/process-events'
import type { SourceKey } from './keys'
import { type FetchedRecord, recordFetches } from './record'

/** What records did, and whether all of them were applied: one may be refused, or wait for another attempt. */
type Applied = { effects: Effect[]; whole: boolean }

/**
 * Records what was fetched, and processes it as the Queue's consumer would. If this worker dies in between, the sweep goes on. If the
 * connection has changed since it was read, nothing is recorded.
 */
export async function recordAndProcess(
  rt: Runtime,
  key: SourceKey,
  records: readonly FetchedRecord[],
): Promise<Applied> {
  if (records.length === 0) return { effects: [], whole: true }
  const { project_id } = key
  const recorded = await recordFetches(rt.db, key, records)
  const effects: Effect[] = []
  let applied = 0
  await processEvents(
    rt,
    recorded.map((event_id) => ({ key: { project_id, event_id } })),
    ({ status, summary }) => {
      effects.push(...(summary?.effects ?? []))
      if (status === 'processed' || status === 'ignored') applied += 1
    },
  )
  return { effects, whole: applied === records.length }
}
