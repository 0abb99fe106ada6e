import { and, eq, inArray, sql } from 'drizzle-orm'
import type { CustomerKey } from '../../billing/customers/read'
import { sourceOf } from '../../billing/read/store'
import { linkingEvent } from '../../consumers/links'
import type { Db } from '../../db/client'
import { valuesOf } from '../../db/sql'
import { events } from '../schema'

/** Reads the types of the events that say what a customer is, and which consumer. */
export function eventsOfCustomer(db: Db, projectId: string, key: CustomerKey) {
  const source = sourceOf(db, projectId, { kind: 'customer', ...key })
  return db
    .select({ id: events.id, type: events.event_type })
    .from(events)
    .where(and(eq(events.project_id, projectId), sql`${events.id} IN (${source}, (${linkingEvent(projectId, key)}))`))
}

/** Reads the types of events, by their ids. One that is no longer stored is left out. */
export function typesOfEvents(db: Db, projectId: string, ids: readonly string[]) {
  return db
    .select({ id: events.id, type: events.event_type })
    .from(events)
    .where(and(eq(events.project_id, projectId), inArray(events.id, valuesOf(ids))))
}
