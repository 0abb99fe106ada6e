import { and, eq, inArray } from 'drizzle-orm'
import { type ObjectKey, sourceOf } from '../../billing/read/store'
import type { Db } from '../../db/client'
import { payloadText, withPayload } from '../payload-store'
import { events } from '../schema'

/**
 * Reads the payload of the event that the state of a billing object comes from; no row if the event is no longer kept,
 * null if its payload is not.
 */
export function findSourcePayload(db: Db, projectId: string, key: ObjectKey) {
  const select = db.select({ text: payloadText.as('text') }).from(events)
  return withPayload(select.$dynamic(), events).where(
    and(eq(events.project_id, projectId), inArray(events.id, sourceOf(db, projectId, key))),
  )
}
