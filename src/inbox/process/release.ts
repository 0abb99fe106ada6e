import { and, not, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/client'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { isDeleted } from '../../tenancy/project'
import { MAX_RELEASED, MAX_RELEASING } from '../connections/limits'
import { connections } from '../connections/schema'
import { isFetchedApart } from '../fetched-apart'
import { onHoldBy } from '../held'
import { REPLAYED_PER_SECOND } from '../replay/limits'
import { events } from '../schema'
import { RESEND_EVERY_MS } from './limits'
import { type DueEvent, sendDue } from './sweep'

/** Sends what was released to the queues, in order. What they lose of it, the sweep finds. */
export async function sendReleased(rt: Runtime, released: readonly DueEvent[]): Promise<void> {
  if (released.length === 0) return
  const inOrder = released.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1))
  await sendDue(rt, inOrder, { perSecond: REPLAYED_PER_SECOND })
  writeLog('info', 'released', { events: released.length })
}

const c = alias(connections, 'c')
const i = alias(events, 'i')

/** The connections that release: they were paused, and are not now. */
const released = sql`${connections} ${c} INDEXED BY connections_releasing
  WHERE ${c.held_as} IS NOT NULL AND ${c.status} <> 'paused' AND ${not(isDeleted(c.project_id))}`

/**
 * The statements that release events which connections held while they were paused, up to {@link MAX_RELEASED} of the store: the
 * oldest of one connection of each project, so that a project with many takes no more than its share. Their lag counts from now.
 * Deleted projects wait until they are restored. A connection that holds nothing any more has no `held_as`.
 */
export function releasing(db: Db, now: number) {
  // The connection that was paused first comes first. Of many projects, chance decides, so that none waits for long.
  const some = sql`(SELECT ${c.project_id}, min(${c.held_as}) AS held_as FROM ${released}
    GROUP BY ${c.project_id} ORDER BY random() LIMIT ${MAX_RELEASING})`
  const share = sql`(SELECT CAST(${MAX_RELEASED} / max(1, count(*)) AS INTEGER) FROM ${some})`
  // As one value of each connection: its limit is its own.
  const ids = sql`(SELECT json_group_array(id) FROM (
    SELECT ${i.id} AS id FROM ${events} ${i} INDEXED BY events_open WHERE ${onHoldBy(i, c)} ORDER BY ${i.id} LIMIT ${share}))`
  const keys = sql`SELECT c.project_id, j.value FROM ${some} c CROSS JOIN json_each(${ids}) j`
  const left = sql`SELECT 1 FROM ${events} ${i} INDEXED BY events_open WHERE ${onHoldBy(i)}`
  const isReleasing = sql`${connections.id} IN (SELECT ${c.id} FROM ${released})`
  return {
    released: db
      .update(events)
      .set({ due_at: now + RESEND_EVERY_MS, released_at: now })
      .where(sql`(${events.project_id}, ${events.id}) IN (${keys})`)
      .returning({
        project_id: events.project_id,
        event_id: events.id,
        is_apart: sql<boolean>`${isFetchedApart(events)}`.mapWith(Boolean),
      }),
    release_ended: db
      .update(connections)
      .set({ held_as: null })
      .where(and(isReleasing, sql`NOT EXISTS (${left})`)),
  }
}
