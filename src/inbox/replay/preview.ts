import type * as z from 'zod'
import { applyAll } from '../../billing/apply'
import { type Db, run } from '../../db/client'
import { findRecorded } from '../events/store'
import { contentsOf, decide } from '../process/decide'
import type { ReplayPreview } from './present'

/**
 * Predicts the result of processing an event now. It writes nothing.
 *
 * @returns null if the project has no such event
 */
export async function previewReplay(
  db: Db,
  projectId: string,
  eventId: string,
): Promise<z.infer<typeof ReplayPreview> | null> {
  const [row] = await run(db, findRecorded(db, projectId, eventId))
  if (!row) return null
  const { vendor, vendor_event_id, kept, text, headers } = row
  const contents = contentsOf(vendor, kept ? { text, headers } : undefined)
  const { status, snapshots, error } = decide(row, contents)
  // Earlier effects are left out: the question is what the event would change in the rows as they are.
  const source = { project_id: projectId, event_id: eventId, vendor, vendor_event_id, snapshots, earlier: [] }
  const applied = await applyAll(db, [source])
  return { dry_run: true, event_id: eventId, status, error, effects: applied?.effects.get(eventId) ?? [] }
}
