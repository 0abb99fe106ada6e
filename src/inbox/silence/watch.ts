import { and, eq, isNull, ne, not, type SQL, sql } from 'drizzle-orm'
import { batch, type Db, raw, run } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { excluded, json } from '../../db/sql'
import { replaced } from '../../db/upsert'
import { idFloor } from '../../lib/ids'
import { HOUR } from '../../lib/time'
import { noticesOpened } from '../../notices/open'
import type { notices } from '../../notices/schema'
import type { PassStep } from '../../tenancy/pass'
import { isDeleted } from '../../tenancy/project'
import { connections } from '../connections/schema'
import { events } from '../schema'
import { LOOKED_AT_OF_AN_HOUR, MADE_UP_HOURS, WATCHED_AT_ONCE } from './limits'
import { afterHour, isSilent, nothingKnown, type Quiet, resumedAt } from './quiet'
import { connectionHours } from './schema'

/**
 * One step of an hourly pass over the connections of a store. It notes in which hours since the last pass each connection had a delivery, and opens a
 * notice for each that has been quiet for too long to be chance. Rows: six read and one written for each connection.
 *
 * @param after the connection that the last step came to, as it says; empty: none
 */
export async function watchConnections(db: Db, after: string, now: number): Promise<PassStep> {
  const next = await run(db, readNext(db, after, now))
  const thisHour = Math.floor(now / HOUR)
  const seen = next.flatMap((row) => {
    const known = row.is_watched ? lookAt(row, thisHour) : row.quiet && resumedAt(row.quiet, thisHour)
    return known ? [{ ...row, ...known }] : []
  })
  if (seen.length > 0) await batch(db, { kept: kept(db, seen), told: silentTold(db, seen, now) })
  const last = next.at(-1)
  const isDone = !last || next.length < WATCHED_AT_ONCE
  return { done: seen.length, after: isDone ? null : `${last.project_id} ${last.connection_id}` }
}

/** The watched connections: live mode, and able to accept deliveries. Test mode is quiet whenever nobody tests. */
const isWatched = and(
  isNull(connections.deleted_at),
  ne(connections.status, 'disabled'),
  eq(connections.livemode, true),
)

type Known = { quiet: Quiet | null; active: number[] }

/** Reads the next connections with what is known of them. For watched ones also the hours since then that had a delivery. */
function readNext(db: Db, after: string, now: number) {
  const [project = '', id = ''] = after.split(' ')
  const some = sql`(SELECT * FROM ${connections} INDEXED BY connections_project
    WHERE (${connections.project_id}, ${connections.id}) > (${project}, ${id})
    ORDER BY ${connections.project_id}, ${connections.id} LIMIT ${WATCHED_AT_ONCE}) ${connections}`
  const isItsRow = and(
    eq(connectionHours.project_id, connections.project_id),
    eq(connectionHours.connection_id, connections.id),
  )
  const { hour, seen, hours, longest, gap, surprise } = connectionHours
  const quiet = sql`json_object('hour', ${hour}, 'seen', ${seen}, 'hours', json(${hours}), 'longest', json(${longest}),
    'gap', ${gap}, 'surprise', ${surprise})`
  const thisHour = Math.floor(now / HOUR)
  const first = thisHour - MADE_UP_HOURS
  const bound = (of: SQL) => sql`${boundsOfHours(first)} ->> (${of} - CAST(${first} AS INTEGER))`
  // The hours that were not looked at: one as a rule. A list of all would cost the rows of all.
  const unseen = sql`WITH RECURSIVE h(n) AS (
    SELECT max(CAST(${first} AS INTEGER), coalesce(${hour}, CAST(${thisHour - 1} AS INTEGER)))
    UNION ALL SELECT n + 1 FROM h WHERE n + 1 < ${thisHour})`
  // What was read from the vendor's list was not delivered.
  const isActive = sql`EXISTS (SELECT 1 FROM (SELECT ${events.deliveries} AS times FROM ${events} INDEXED BY events_connection
    WHERE ${eq(events.connection_id, connections.id)} AND ${events.id} >= ${bound(sql`n`)} AND ${events.id} < ${bound(sql`n + 1`)} LIMIT ${LOOKED_AT_OF_AN_HOUR}) d WHERE d.times > 0)`
  const active = sql`(${unseen} SELECT json_group_array(n) FROM h WHERE n < ${thisHour} AND ${isActive})`
  const isOpen = and(isWatched, not(isDeleted(connections.project_id)))
  const shown = {
    project_id: connections.project_id,
    connection_id: connections.id,
    is_watched: sql<boolean>`${isOpen}`.mapWith(Boolean),
    quiet: json<Quiet | null>(sql`CASE WHEN ${hour} IS NOT NULL THEN ${quiet} ELSE 'null' END`),
    active: json<number[]>(sql`CASE WHEN ${isOpen} THEN ${active} ELSE '[]' END`),
  }
  return raw(db, shown, (fields) => sql`SELECT ${fields} FROM ${some} LEFT JOIN ${connectionHours} ON ${isItsRow}`)
}

/** JSON of the least ids of the events received in each hour from this one on, and in the one after the last that has ended. */
function boundsOfHours(first: number): string {
  const hours = Array.from({ length: MADE_UP_HOURS + 1 }, (_, i) => first + i)
  return JSON.stringify(hours.map((hour) => idFloor('evt', hour * HOUR)))
}

/** What is known after the hours until this one. An hour of which too long has passed was not watched. */
function lookAt({ quiet, active }: Known, thisHour: number): Quiet {
  let known = quiet ?? nothingKnown(thisHour - 1)
  if (known.hour < thisHour - MADE_UP_HOURS) known = resumedAt(known, thisHour - 1)
  while (known.hour < thisHour) known = afterHour(known, active.includes(known.hour))
  return known
}

type Seen = Quiet & { project_id: string; connection_id: string }

/** Keeps what is known. A run that overlaps with another one, and knows less, changes nothing. */
function kept(db: Db, seen: readonly Seen[]) {
  const rows = seen.map((one) => ({
    ...one,
    silent_since: isSilent(one) ? (one.hour - one.gap) * HOUR : null,
  }))
  const of = (name: string) => sql.raw(`j.value->>'${name}'`)
  const { hour, seen: n, hours, longest, gap, surprise, silent_since } = connectionHours
  const row = {
    project_id: of('project_id'),
    connection_id: of('connection_id'),
    hour: of('hour'),
    seen: of('seen'),
    hours: of('hours'),
    longest: of('longest'),
    gap: of('gap'),
    surprise: of('surprise'),
    silent_since: of('silent_since'),
  }
  return insertFrom(
    db,
    connectionHours,
    row,
    sql`FROM json_each(${JSON.stringify(rows)}) j WHERE true
      ON CONFLICT DO UPDATE SET ${replaced(hour, n, hours, longest, gap, surprise, silent_since)} WHERE ${hour} < ${excluded(hour)}`,
  )
}

/** Opens a notice for each of these connections that is silent. */
function silentTold(db: Db, seen: readonly Seen[], now: number) {
  const ids = JSON.stringify(seen.filter(isSilent).map(({ connection_id }) => connection_id))
  const { project_id, id, name } = connections
  const facts = sql`json_object('name', ${name}, 'since', strftime('%Y-%m-%dT%H:%M:%SZ', ${connectionHours.silent_since} / 1000, 'unixepoch'))`
  const from = sql`FROM json_each(${ids}) j CROSS JOIN ${connections} ON ${eq(id, sql`j.value`)} AND ${isWatched}
    CROSS JOIN ${connectionHours} ON ${and(eq(connectionHours.project_id, project_id), eq(connectionHours.connection_id, id), isQuiet)}
    WHERE true`
  return noticesOpened(db, { project_id, kind: sql`'connection_silent'`, object_id: id, facts }, from, now)
}

const isQuiet = sql`${connectionHours.silent_since} IS NOT NULL`

/** Reads the names of a project's connections that are silent, and since when (ms). */
export function findSilent(db: Db, projectId: string) {
  return db
    .select({ name: connections.name, since: sql<number>`${connectionHours.silent_since}` })
    .from(connectionHours)
    .innerJoin(connections, and(eq(connections.id, connectionHours.connection_id), isWatched))
    .where(and(eq(connectionHours.project_id, projectId), isQuiet))
}

/** Whether the connection of a notice is no longer silent: a delivery arrived, or none is expected. */
export function isSilentNoMore({ project_id: of, object_id }: Pick<typeof notices, 'project_id' | 'object_id'>): SQL {
  const ofNotice = and(eq(connectionHours.project_id, of), eq(connectionHours.connection_id, object_id))
  return sql`NOT EXISTS (SELECT 1 FROM ${connectionHours} CROSS JOIN ${connections}
    ON ${and(eq(connections.id, connectionHours.connection_id), isWatched)} WHERE ${and(ofNotice, isQuiet)})`
}
