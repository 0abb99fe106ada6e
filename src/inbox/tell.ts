import { and, eq, inArray, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db, Query } from '../db/client'
import { valuesOf } from '../db/sql'
import { idFloor } from '../lib/ids'
import { MINUTE } from '../lib/time'
import { DEGRADED, FAILING } from '../notices/limits'
import { noticesOpened } from '../notices/open'
import { notices } from '../notices/schema'
import { connections } from './connections/schema'
import { isMutedOf } from './mutes/mutes'
import { NO_CODE } from './mutes/schema'
import { events, minutes } from './schema'
import { isDelivered } from './sources'

/* Connections that the team of a project is told of. */

/** Connections of one statement, at most: each is looked up in every minute of its window. */
const MOST = 50
/** The newest failed events of a project that are looked at to tell those of muted causes from the others, with each failure. */
const MOST_FAILED = 200
/** As many, to close a notice, which happens once an hour. */
const MOST_TO_CLOSE = 1000

/** Opens a notice for each of these connections that has refused much in the last minutes, for causes that are not muted, and accepted nothing. */
export function degradedTold(db: Db, ids: readonly string[], now: number): Query<void> {
  const refused = sumOf(connections, DEGRADED.window, now, refusedIn(now))
  const which = and(isOne(ids), sql`${refused} >= ${DEGRADED.refused}`, sql`NOT ${hasAccepted(connections, now)}`)
  return told(db, { kind: 'connection_degraded', counted: sql`'refused', ${refused}`, which }, now)
}

/**
 * Opens a notice for each of these connections of which many events failed that came in the last hour. Events of muted causes do not
 * count. It comes after the statement that notes that the events have failed.
 */
export function failingTold(db: Db, ids: readonly string[], now: number): Query<void> {
  const failed = sumOf(connections, FAILING.window, now, sql`${minutes.failed}`)
  const which = and(isOne(ids), sql`${failed} >= ${FAILING.events}`, hasUnmuted(FAILING.events, now))
  return told(db, { kind: 'events_failing', counted: sql`'failed', ${failed}`, which }, now)
}

/** Whether a connection that a notice says refuses everything no longer does: it is off, or accepts, or nothing comes. */
export function isDegradedNoMore(now: number): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM ${connections} WHERE ${isOfNotice} AND ${connections.status} <> 'disabled'
    AND NOT ${hasAccepted(connections, now)} AND ${sumOf(connections, 4 * DEGRADED.window, now, refusedIn(now))} > 0)`
}

/** Whether none of the events of a connection that came in the last hour has failed, but for those of muted causes. */
export function isFailingNoMore(now: number): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM ${connections} WHERE ${isOfNotice}
    AND ${sumOf(connections, FAILING.window, now, sql`${minutes.failed}`)} > 0
    AND (${hasUnmuted(1, now, MOST_TO_CLOSE)} OR ${hasMore(MOST_TO_CLOSE, now)}))`
}

/**
 * Whether so many of a connection's events that came in the last hour failed for causes that are not muted. Without a muted cause, the
 * rollups have said so. Otherwise the newest failed events of the project tell.
 */
function hasUnmuted(n: number, now: number, most = MOST_FAILED): SQL {
  const unmuted = sql`(SELECT count(*) FROM (${newestFailed(most, now)}) n WHERE n.connection_id = ${connections.id}
    AND NOT ${isMutedOf(connections, 'failed', now, sql`n.code`)})`
  return sql`(NOT ${isMutedOf(connections, 'failed', now)} OR ${unmuted} >= ${n})`
}

/** Whether the project may have more failed events than these: then nobody has looked at all of them, and a notice stays. */
function hasMore(most: number, now: number): SQL {
  return sql`(SELECT count(*) FROM (${newestFailed(most, now)})) = ${most}`
}

/** The newest failed events that came to a connection's project in the last hour. */
function newestFailed(most: number, now: number): SQL {
  return sql`SELECT ${f.connection_id} AS connection_id, coalesce(${f.last_error_code}, ${NO_CODE}) AS code
    FROM ${events} ${f} INDEXED BY events_ended
    WHERE ${f.project_id} = ${connections.project_id} AND ${f.status} = 'failed' AND ${f.due_at} IS NULL AND ${f.status} <> 'processed'
      AND ${f.id} >= ${idFloor('evt', now - FAILING.window)} AND ${isDelivered(f.id)} ORDER BY ${f.id} DESC LIMIT ${most}`
}

const isOfNotice = and(
  eq(connections.project_id, notices.project_id),
  eq(connections.id, notices.object_id),
  isNull(connections.deleted_at),
)

const f = alias(events, 'f')

type Matter = { kind: string; counted: SQL; which: SQL | undefined }

function told(db: Db, { kind, counted, which }: Matter, now: number): Query<void> {
  const facts = sql`json_object('name', ${connections.name}, ${counted})`
  const { project_id, id } = connections
  const from = sql`FROM ${connections} WHERE ${which}`
  return noticesOpened(db, { project_id, kind: sql`${kind}`, object_id: id, facts }, from, now)
}

function isOne(ids: readonly string[]) {
  const some = [...new Set(ids)].slice(0, MOST)
  return and(
    inArray(connections.id, valuesOf(some)),
    ne(connections.status, 'disabled'),
    isNull(connections.deleted_at),
  )
}

/** The sum of something over the minutes of a connection in a window that ends now. Each minute is looked up by its key. */
function sumOf({ project_id, id }: typeof connections, window: number, now: number, what: SQL): SQL<number> {
  const last = Math.floor(now / MINUTE)
  const list = Array.from({ length: window / MINUTE + 1 }, (_, i) => last - i)
  return sql`(SELECT coalesce(sum(${what}), 0) FROM ${minutes} WHERE ${eq(minutes.project_id, project_id)}
    AND ${inArray(minutes.minute, valuesOf(list))} AND ${eq(minutes.connection_id, id)})`
}

/** How many deliveries a minute of a connection refused, without those of muted causes. */
function refusedIn(now: number): SQL {
  const isMuted = isMutedOf(connections, 'refused', now, sql`j.key`)
  return sql`(SELECT sum(j.value) FROM json_each(${minutes.refused}) j WHERE NOT ${isMuted})`
}

/** Whether a connection has taken an event, or one that it had before, in the last minutes. */
function hasAccepted(of: typeof connections, now: number): SQL {
  const since = idFloor('evt', now - DEGRADED.window)
  return sql`(EXISTS (SELECT 1 FROM ${events} INDEXED BY events_connection WHERE ${eq(events.connection_id, of.id)}
      AND ${events.id} >= ${since} AND ${isDelivered(events.id)})
    OR ${sumOf(of, DEGRADED.window, now, sql`${minutes.duplicates}`)} > 0)`
}
