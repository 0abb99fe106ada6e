import * as z from 'zod'
import { applyAll } from '../../billing/apply'
import { Effect } from '../../billing/effect'
import type { Db } from '../../db/client'
import { vendorOf } from '../../vendors'
import { findRecorded } from '../events/store'
import { decide } from '../process/decide'

export const ReplayPreview = z
  .object({
    dry_run: z.literal(true),
    event_id: z.string(),
    status: z.enum(['processed', 'ignored', 'failed']).describe('What the event would end as.'),
    error: z.string().nullable(),
    effects: z.array(Effect).describe('What it would do; a `change` of null changes nothing.'),
  })
  .meta({ id: 'ReplayPreview' })

/**
 * What processing an event now would come to. Reads, and writes nothing.
 *
 * @returns null where the project has no such event
 */
export async function previewReplay(
  db: Db,
  projectId: string,
  eventId: string,
): Promise<z.infer<typeof ReplayPreview> | null> {
  const row = await findRecorded(db, projectId, eventId)
  if (!row) return null
  const { vendor, vendor_event_id, body, headers } = row
  const { status, snapshots, error } = decide(vendorOf(vendor), {
    vendor,
    vendor_event_id,
    body,
    headers: headers === null ? {} : (JSON.parse(headers) as Record<string, string>),
  })
  // What it did before is left out: the question is what it would do to the rows as they are.
  const source = { project_id: projectId, event_id: eventId, vendor, vendor_event_id, snapshots, earlier: [] }
  const { effects } = await applyAll(db, [source])
  return { dry_run: true, event_id: eventId, status, error, effects: effects.get(eventId) ?? [] }
}
