import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { old } from '../../db/old'
import { connections } from '../connections/schema'
import type { Status } from '../lifecycle'
import { LEASE_MS, MAX_TRIES } from '../lifecycle'
import { attempts, events, payloads, replays } from '../schema'

/** A claimed event, with all that its processing needs. */
export type Claimed = {
  project_id: string
  id: string
  connection_id: string
  vendor: string
  vendor_event_id: string
  status: Status
  attempts: number
  tries: number
  replay_id: string | null
  /** Null where the payload is past its retention. */
  body: string | number[] | null
  headers: string | null
  /** JSON, of a replay: what the event did when it was processed before. */
  earlier: string | null
}
export type EventKey = { project_id: string; event_id: string }

/**
 * Claims what is there to do of a list, in one round trip. What is not returned is done, or another worker's.
 *
 * An event whose last lease ran out is left to {@link claimExpired}: it may be what killed the worker.
 *
 * @param lease the token that fences what this worker writes
 */
export async function claim(db: Db, keys: readonly EventKey[], lease: string, now: number): Promise<Claimed[]> {
  const list = keysJson(keys)
  const [, claimed] = await old(db).batch([
    sql`UPDATE ${events} SET status = 'processing', lease_token = ${lease}, lease_until = ${now + LEASE_MS},
        attempts = attempts + 1, tries = tries + 1
      FROM (SELECT value->>0 AS p, value->>1 AS i FROM json_each(${list})) m
      WHERE events.project_id = m.p AND events.id = m.i AND tries < ${MAX_TRIES}
        AND (status IN ('received', 'queued') OR (status = 'retrying' AND next_attempt_at <= ${now}))`,
    claimedOf(list, lease),
  ])
  return claimed.rows
}

/** Which of a list are claimed by a worker whose lease ran out, with tries left: what has died more often comes later. */
export function findExpired(db: Db, keys: readonly EventKey[], now: number): Promise<EventKey[]> {
  return old(db).all(sql<EventKey>`SELECT e.project_id, e.id AS event_id FROM json_each(${keysJson(keys)}) m
    CROSS JOIN ${events} e ON e.project_id = m.value->>0 AND e.id = m.value->>1
    WHERE e.status = 'processing' AND e.lease_until <= ${now} AND e.tries < ${MAX_TRIES} ORDER BY e.tries`)
}

/** Takes over one event from a worker that died, and writes the attempt that died with it. */
export async function claimExpired(db: Db, key: EventKey, lease: string, now: number): Promise<Claimed | null> {
  const list = keysJson([key])
  const [, , claimed] = await old(db).batch([
    died(list, now),
    sql`UPDATE ${events} SET lease_token = ${lease}, lease_until = ${now + LEASE_MS}, attempts = attempts + 1, tries = tries + 1
      WHERE project_id = ${key.project_id} AND id = ${key.event_id} AND status = 'processing' AND lease_until <= ${now}
        AND tries < ${MAX_TRIES}`,
    claimedOf(list, lease),
  ])
  return claimed.rows[0] ?? null
}

/** Writes the attempt of a worker that died: its lease ran out, and nobody else will. */
function died(list: string, now: number) {
  return sql`INSERT INTO ${attempts} (event_id, number, trigger, actor, started_at, finished_at, outcome, error)
    SELECT e.id, e.attempts, CASE WHEN e.tries > 1 THEN 'retry' WHEN e.replay_id IS NULL THEN 'ingest' ELSE 'replay' END,
      CASE WHEN e.tries = 1 THEN (SELECT r.actor FROM ${replays} r WHERE r.project_id = e.project_id AND r.id = e.replay_id) END,
      e.lease_until - ${LEASE_MS}, e.lease_until, 'died', 'the worker did not finish within its lease'
    FROM json_each(${list}) m CROSS JOIN ${events} e ON e.project_id = m.value->>0 AND e.id = m.value->>1
    WHERE e.status = 'processing' AND e.lease_until <= ${now} ON CONFLICT DO NOTHING`
}

/** What a worker holds under its lease, with all that processing needs. */
export function claimedBy(keys: readonly EventKey[], lease: string) {
  return claimedOf(keysJson(keys), lease)
}

function claimedOf(list: string, lease: string) {
  return sql<Claimed>`SELECT e.project_id, e.id, e.connection_id, c.vendor, e.vendor_event_id, e.status, e.attempts, e.tries,
      e.replay_id, p.body, p.headers,
      CASE WHEN e.replay_id IS NOT NULL THEN e.summary->'$.effects' END AS earlier
    FROM json_each(${list}) m
    CROSS JOIN ${events} e ON e.project_id = m.value->>0 AND e.id = m.value->>1 AND e.lease_token = ${lease}
    CROSS JOIN ${connections} c ON c.id = e.connection_id
    LEFT JOIN ${payloads} p ON p.project_id = e.project_id AND p.id = e.payload_id`
}

function keysJson(keys: readonly EventKey[]): string {
  return JSON.stringify(keys.map(({ project_id, event_id }) => [project_id, event_id]))
}
