import type { Effect } from '../../billing/effect'
import type { Runtime } from '../../env'
import { processEvents } from '../process/process-events'
import type { SourceKey } from './keys'
import { type FetchedRecord, recordFetches } from './record'

/**
 * Records what was fetched, and processes it as the Queue's consumer would. If this worker dies in between, the sweep goes on.
 *
 * @returns what the records did
 */
export async function recordAndProcess(
  rt: Runtime,
  key: SourceKey,
  records: readonly FetchedRecord[],
): Promise<Effect[]> {
  if (records.length === 0) return []
  const { project_id } = key
  const recorded = await recordFetches(rt.db, key, records)
  const effects: Effect[] = []
  await processEvents(
    rt.db,
    recorded.map((event_id) => ({ key: { project_id, event_id }, via: undefined })),
    ({ summary }) => effects.push(...(summary?.effects ?? [])),
  )
  return effects
}
