import { and, desc, eq, lt, sql } from 'drizzle-orm'
import type { Effect } from '../../billing/effect'
import type { Db } from '../../db/client'
import { json } from '../../db/sql'
import { events, refs } from '../schema'

/**
 * Reads the `take` most recently received events that refer to a vendor's object, the latest by the vendor's time first.
 *
 * @param before the event to read on from, by time of receipt; null for the newest
 */
export function listReferring(
  db: Db,
  projectId: string,
  vendorId: string,
  { before, take }: { before: string | null; take: number },
) {
  const ofObject = and(eq(refs.project_id, projectId), eq(refs.ref, vendorId))
  const newest = db
    .select({ event_id: refs.event_id })
    .from(refs)
    .where(and(ofObject, before === null ? undefined : lt(refs.event_id, before)))
    .orderBy(desc(refs.event_id))
    .limit(take)
    .as('newest')
  return (
    db
      .select({
        id: events.id,
        event_type: events.event_type,
        occurred_at: events.occurred_at,
        status: events.status,
        differing: events.differing,
        last_differing_at: events.last_differing_at,
        /** What the event is about, by its summary; null while it is not processed. */
        object_id: sql<string | null>`${events.summary}->>'$.object.id'`.as('object_id'),
        effects: json<Effect[] | null>(sql`${events.summary}->'$.effects'`).as('effects'),
      })
      .from(newest)
      .crossJoin(events)
      .where(and(eq(events.project_id, projectId), eq(events.id, newest.event_id)))
      // Without its `Z`, a time sorts correctly as text, however many digits it has.
      .orderBy(desc(sql`rtrim(${events.occurred_at}, 'Z')`), desc(events.id))
  )
}
export type TimelineRow = Awaited<ReturnType<typeof listReferring>>[number]
