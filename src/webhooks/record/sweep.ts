import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { events } from '../../db/schema'
import { RESEND_EVERY_MS } from '../lifecycle'
import type { EventKey } from './claim'

/** Projects and events a project that one sweep looks at. */
const MAX_PROJECTS = 1000
const MAX_EVENTS_EACH = 100

/**
 * Takes what is due and nobody is working on, fair over projects, and pushes it ahead: what is re-sent is not looked
 * at again before the Queue has had its time.
 */
export function takeDue(db: Db, now: number): Promise<EventKey[]> {
  return db.all(sql<EventKey>`WITH RECURSIVE p(v) AS (
      SELECT min(project_id) FROM ${events} INDEXED BY events_open WHERE due_at IS NOT NULL
      UNION ALL
      SELECT (SELECT min(project_id) FROM ${events} INDEXED BY events_open WHERE due_at IS NOT NULL AND project_id > p.v)
      FROM p WHERE p.v IS NOT NULL LIMIT ${MAX_PROJECTS})
    UPDATE ${events} SET due_at = ${now + RESEND_EVERY_MS} WHERE (project_id, id) IN (
      SELECT e.project_id, e.id FROM p CROSS JOIN ${events} e
      WHERE p.v IS NOT NULL AND e.project_id = p.v AND e.id IN (
        SELECT i.id FROM ${events} i INDEXED BY events_open
        WHERE i.project_id = p.v AND i.due_at <= ${now} AND (i.lease_until IS NULL OR i.lease_until <= ${now})
        ORDER BY i.due_at LIMIT ${MAX_EVENTS_EACH}))
    RETURNING project_id, id AS event_id`)
}
