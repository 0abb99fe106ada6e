import { and, eq, gt, lt, ne, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/client'
import { idRange } from '../../lib/ids'
import { bodyColumns, payloadBytes, withPayload } from '../payload'
import { events, refs } from '../schema'
import { PREFIX_OF, SOURCES } from '../sources'
import type { EventRow } from './events'
import { MAX_BEFORE_BYTES, NEAR_EVENTS } from './limits'

const e = alias(events, 'e')
const r = alias(refs, 'r')

/**
 * Reads the last event, or fetch, about the same object before another one, by the vendor's time. It looks at {@link NEAR_EVENTS} of each
 * sort that refer to the object and were received before that one, and as many that were received after it. A payload of more than
 * {@link MAX_BEFORE_BYTES} is not read.
 *
 * @param event with its object
 */
export function findBefore(
  db: Db,
  { project_id, id, occurred_at, vendor, vendor_event_id }: EventRow,
  object: { type: string | null; id: string },
) {
  const near = SOURCES.flatMap((source) => {
    const { above, below } = idRange(PREFIX_OF[source], null, null)
    const at = PREFIX_OF[source] + id.slice(PREFIX_OF[source].length)
    const range = (
      inIt: SQL | undefined,
      order: SQL,
    ) => sql`SELECT * FROM (SELECT ${r.event_id} AS event_id FROM ${refs} ${r}
      WHERE ${and(eq(r.project_id, project_id), eq(r.ref, object.id), inIt)} ORDER BY ${r.event_id} ${order} LIMIT ${NEAR_EVENTS})`
    return [
      range(and(gt(r.event_id, above), lt(r.event_id, at)), sql`DESC`),
      range(and(gt(r.event_id, at), lt(r.event_id, below)), sql`ASC`),
    ]
  })
  // Without its `Z`, a time sorts correctly as text, however many digits it has.
  const place = sql`coalesce(rtrim(${e.occurred_at}, 'Z'), ''), substr(${e.id}, 4)`
  const isSame = and(
    eq(e.project_id, project_id),
    // An event may be recorded twice: by an earlier connection, and by the one that replaced it.
    ne(e.vendor_event_id, vendor_event_id),
    sql`${e.summary}->>'$.vendor' = ${vendor}`,
    sql`${e.summary}->>'$.object.id' = ${object.id}`,
    sql`${e.summary}->>'$.object.type' IS ${object.type}`,
    sql`(${place}) < (${occurred_at?.replace(/Z$/, '') ?? ''}, ${id.slice(3)})`,
  )
  const last = sql`(SELECT ${e.id} FROM (${sql.join(near, sql` UNION ALL `)}) near CROSS JOIN ${events} ${e} ON ${e.id} = near.event_id
    WHERE ${isSame} ORDER BY coalesce(rtrim(${e.occurred_at}, 'Z'), '') DESC, substr(${e.id}, 4) DESC LIMIT 1)`
  const columns = {
    id: events.id,
    event_type: events.event_type,
    ...bodyColumns(sql`${payloadBytes} <= ${MAX_BEFORE_BYTES}`),
  }
  return withPayload(db.select(columns).from(events).$dynamic(), events).where(
    and(eq(events.project_id, project_id), sql`${events.id} = ${last}`),
  )
}
