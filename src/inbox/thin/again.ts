import { and, inArray, sql } from 'drizzle-orm'
import { batch } from '../../db/client'
import type { Runtime } from '../../env'
import { keepFirstAttempts } from '../attempts'
import { leftBy } from '../lifecycle'
import { FIRST_DUE_MS } from '../limits'
import { hasPayload } from '../payload'
import type { EventKey } from '../process/claim'
import { processEvents } from '../process/process-events'
import { events } from '../schema'
import { sourceOfId } from '../sources'

/**
 * Processes records of fetches again, because an event that led to them is replayed. Deliveries are left alone, and so are records whose
 * payloads are no longer kept. The replay counts the event, so the record does not name it.
 */
export async function processAgain(rt: Runtime, keys: readonly EventKey[], now: number): Promise<void> {
  const { db } = rt
  const records = keys.filter(({ event_id }) => sourceOfId(event_id) === 'fetch')
  if (records.length === 0) return
  const list = JSON.stringify(records.map(({ project_id, event_id }) => [project_id, event_id]))
  const isOne = sql`(${events.project_id}, ${events.id}) IN (SELECT value->>0, value->>1 FROM json_each(${list}))`
  const which = and(isOne, inArray(events.status, leftBy('replay')), hasPayload(db, events))
  await batch(db, {
    first: keepFirstAttempts(db, which),
    opened: db
      .update(events)
      .set({ status: 'queued', due_at: now + FIRST_DUE_MS, tries: 0, replay_id: null, released_at: null })
      .where(which),
  })
  await processEvents(
    rt,
    records.map((key) => ({ key, via: 'replay' })),
  )
}
