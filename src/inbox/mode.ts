import { type SQL, sql } from 'drizzle-orm'
import { connections } from './connections/schema'
import { events } from './schema'

/** Whether an event is of live mode, as an expression over the columns of one: as it says itself, or else as its connection is. */
export const modeOfEvent: SQL<boolean> = sql<boolean>`coalesce(${events.summary}->>'$.livemode',
  (SELECT ${connections.livemode} FROM ${connections} WHERE ${connections.id} = ${events.connection_id}))`
