import { applyAll } from '../../billing/apply'
import type { Effect } from '../../billing/effect'
import { effectOf } from '../../consumers/claims'
import { isErased } from '../../consumers/links'
import { type Db, run } from '../../db/client'
import type { Runtime } from '../../env'
import { inRoom } from '../../http/answering'
import { settingsOf } from '../../tenancy/settings'
import { vendorOf } from '../../vendors'
import { withArchive } from '../archive/find'
import { findRecorded } from '../events/events'
import { unpacked } from '../payload'
import { type Contents, contentsOf, decide, eventOfDelivery, type Outcome } from '../process/decide'
import { MAX_DELIVERY_BYTES } from '../receive/limits'

/** How processing an event now would end, and what it would do. */
export type Preview = Pick<Outcome, 'status' | 'error'> & { event_id: string; effects: Effect[] }

/**
 * Predicts the result of processing an event now. It writes nothing.
 *
 * @returns null if the project has no such event
 * @throws {Fault} `overloaded` if there is no room for its payload
 */
export async function previewReplay(rt: Runtime, projectId: string, eventId: string): Promise<Preview | null> {
  return inRoom(rt, projectId, MAX_DELIVERY_BYTES, () => preview(rt.db, projectId, eventId))
}

async function preview(db: Db, projectId: string, eventId: string): Promise<Preview | null> {
  const [row] = await withArchive(db, projectId, eventId, (reader) => run(db, findRecorded(reader, projectId, eventId)))
  if (!row) return null
  const { vendor, vendor_event_id, kept, headers, settings } = row
  const { text } = unpacked(row)
  const contents = contentsOf(row, kept ? { text, headers } : undefined, settingsOf(settings))
  const { status, summary, snapshots, claims, error } = decide(row, contents)
  if (status === 'ignored' && row.apart && namesObject(row, contents)) {
    // The vendor is not asked for a preview, so what it would answer is not known.
    const fetched = row.summary?.effects.filter(({ result }) => result === 'fetched') ?? []
    return { event_id: eventId, status: 'processed', error: null, effects: fetched }
  }
  // Earlier effects are left out: the question is what the event would change in the rows as they are.
  const customer = summary?.customer ?? null
  const source = { project_id: projectId, event_id: eventId, vendor, vendor_event_id, customer, snapshots, earlier: [] }
  const applied = await applyAll(db, [source], isErased)
  const effects = [...(applied?.effects.get(eventId) ?? []), ...claims.map(effectOf)]
  return { event_id: eventId, status, error, effects }
}

/** Whether an event names an object that is fetched, and does not contain it. */
function namesObject(
  { vendor, vendor_event_id }: { vendor: string; vendor_event_id: string },
  { events }: Contents,
): boolean {
  const event = eventOfDelivery(events, vendor_event_id)
  return !!event?.content && !!vendorOf(vendor)?.api?.calls.ofEvent(event.content)
}
