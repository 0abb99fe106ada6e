import { and, eq, sql } from 'drizzle-orm'
import { type Db, raw } from '../../db/client'
import { isArchived } from '../archive/find'
import { connections } from '../connections/schema'
import { eventExists } from '../events/events'
import { findReplay } from '../replay/replays'
import { events, refs } from '../schema'
import { i } from './conditions'

/**
 * Reads what a text stands for in a project: one of its ids, a vendor's id, or an event type. Each statement looks up one
 * entry of an index; for vendors' event ids, one entry for each connection of the project.
 */
export function lookUp(db: Db, projectId: string, text: string) {
  return {
    event: eventExists(db, projectId, text),
    archived: isArchived(db, projectId, text),
    connection: db
      .select({ id: connections.id })
      .from(connections)
      .where(and(eq(connections.project_id, projectId), eq(connections.id, text))),
    replay: findReplay(db, projectId, text),
    // Two, because two connections may have received the same event.
    delivered: db
      .select({ id: events.id })
      .from(connections)
      .crossJoin(events)
      .where(
        and(
          eq(connections.project_id, projectId),
          eq(events.connection_id, connections.id),
          eq(events.vendor_event_id, text),
        ),
      )
      .limit(2),
    ref: db
      .select({ ref: refs.ref })
      .from(refs)
      .where(and(eq(refs.project_id, projectId), eq(refs.ref, text)))
      .limit(1),
    /** The first event type that begins with the text. */
    type: raw(
      db,
      { first: sql<string | null>`min(${i.event_type})` },
      (fields) => sql`SELECT ${fields} FROM ${events} i INDEXED BY events_type
        WHERE ${i.project_id} = ${projectId} AND ${i.event_type} >= ${text} AND ${i.event_type} < ${text} || char(0x10ffff)`,
    ),
  }
}
