import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { old } from '../../db/old'
import { MAX_TRIES, RESEND_EVERY_MS } from '../lifecycle'
import { type Claimed, claimedBy, type EventKey } from '../process/claim'
import { events } from '../schema'
import { state } from './schema'

/** Projects, and events a project, that one sweep looks at. */
const MAX_PROJECTS = 1000
const MAX_EVENTS_EACH = 100
/** Events given up in one sweep. */
const MAX_DEAD = 100

/** Every project that has open events, by skipping from one to the next in the index of open events. */
const openProjects = sql`p(v) AS (
    SELECT min(project_id) FROM ${events} INDEXED BY events_open WHERE due_at IS NOT NULL
    UNION ALL
    SELECT (SELECT min(project_id) FROM ${events} INDEXED BY events_open WHERE due_at IS NOT NULL AND project_id > p.v)
    FROM p WHERE p.v IS NOT NULL LIMIT ${MAX_PROJECTS})`

/** What is due in a project and nobody is working on; `more` narrows it. */
const dueIn = (now: number, more: ReturnType<typeof sql>) => sql`SELECT e.project_id, e.id FROM p CROSS JOIN ${events} e
    WHERE p.v IS NOT NULL AND e.project_id = p.v AND e.id IN (
      SELECT i.id FROM ${events} i INDEXED BY events_open
      WHERE i.project_id = p.v AND i.due_at <= ${now} AND (i.lease_until IS NULL OR i.lease_until <= ${now}) AND ${more}
      ORDER BY i.due_at LIMIT ${MAX_EVENTS_EACH})`

const usedUp = sql`(i.status = 'processing' AND i.tries >= ${MAX_TRIES})`

/**
 * Takes what is due and nobody is working on, fair over projects, and pushes it ahead: what is re-sent is not looked
 * at again before the Queue has had its time.
 */
export function takeDue(db: Db, now: number): Promise<EventKey[]> {
  return old(db).all(sql<EventKey>`WITH RECURSIVE ${openProjects}
    UPDATE ${events} SET due_at = ${now + RESEND_EVERY_MS} WHERE (project_id, id) IN (${dueIn(now, sql`NOT ${usedUp}`)})
    RETURNING project_id, id AS event_id`)
}

/**
 * Takes over events whose last try died with its worker: there is none left, and only a verdict to write. They are
 * fenced by the lease as any claim is.
 */
export async function takeDead(db: Db, lease: string, leaseUntil: number, now: number): Promise<Claimed[]> {
  const taken = await old(db).all(sql<EventKey>`WITH RECURSIVE ${openProjects}
    UPDATE ${events} SET lease_token = ${lease}, lease_until = ${leaseUntil}
    WHERE (project_id, id) IN (${dueIn(now, usedUp)} LIMIT ${MAX_DEAD})
    RETURNING project_id, id AS event_id`)
  return taken.length === 0 ? [] : old(db).all(claimedBy(taken, lease))
}

/** Notes a moment (ms) or a number under a name. */
export async function writeState(db: Db, name: string, value: number): Promise<void> {
  await old(db).all(sql`INSERT INTO ${state} (name, value) VALUES (${name}, ${value})
    ON CONFLICT DO UPDATE SET value = excluded.value`)
}

export async function readState(db: Db, name: string): Promise<number | null> {
  const row = await old(db).first(sql<{ value: number }>`SELECT value FROM ${state} WHERE name = ${name}`)
  return row?.value ?? null
}
