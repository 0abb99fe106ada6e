import { and, eq, getTableColumns, gte, inArray, lte, not, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { countMarked } from '../billing/store'
import { type Db, type Directory, type Query, type Results, raw } from '../db/client'
import { findUnwell } from '../endpoints/health'
import { listBackfills } from '../inbox/backfill/fields'
import { listConnections } from '../inbox/connections/connection'
import { MAX_CONNECTIONS } from '../inbox/connections/limits'
import { connections } from '../inbox/connections/schema'
import { countByMute } from '../inbox/failures/attention'
import { findVanished } from '../inbox/formats/look'
import { holding, notOnHold, onHoldBy } from '../inbox/held'
import { leftBy } from '../inbox/lifecycle'
import { isOpenProject, openProjects } from '../inbox/open-projects'
import { findMissing } from '../inbox/renewals/missing'
import { type Minutes, rollups } from '../inbox/rollups'
import { events, minutes, totals } from '../inbox/schema'
import { findSilent } from '../inbox/silence/watch'
import { isDelivered, PREFIX_OF } from '../inbox/sources'
import { findThinWithoutKey } from '../inbox/thin/without-key'
import { findRefused } from '../inbox/vendor-api/keys'
import { findEndpointFindings } from '../inbox/vendor-endpoints/store'
import { idFloor } from '../lib/ids'
import { HOUR, MINUTE } from '../lib/time'
import { state } from '../stores/schema'
import type { SealedColumn } from '../stores/sealed'
import { isDeleted } from '../tenancy/project'
import { findWatched } from '../watch/health'
import { MAX_COUNTED, MAX_ITEMS_MISSING } from './limits'
import { sealedIn } from './sealed'

export type MinuteRow = typeof minutes.$inferSelect
export type HealthRows = Results<ReturnType<typeof snapshot>>

const open = alias(events, 'open')

/** Reads what health is made of. */
export function snapshot(
  db: Db,
  projectId: string,
  { since_minute, now, newest_key, store }: { since_minute: number; now: number; newest_key: number; store: number },
) {
  return {
    finals: db.select({ status: totals.status, n: totals.n }).from(totals).where(eq(totals.project_id, projectId)),
    open: countOpen(db, { from: sql`${events} INDEXED BY events_open`, where: eq(events.project_id, projectId) }, now),
    held: countHeld(db, eq(connections.project_id, projectId)),
    minutes: readMinutes(db, projectId, { from: since_minute, to: Number.MAX_SAFE_INTEGER }, null),
    connections: listConnections(db, projectId, null, MAX_CONNECTIONS),
    swept: db.select({ at: state.value }).from(state).where(eq(state.name, 'last_sweep_at')),
    thin: findThinWithoutKey(db, projectId),
    key_refused: findRefused(db, projectId),
    silent: findSilent(db, projectId),
    backfills: listBackfills(db, projectId),
    missing: findMissing(db, projectId),
    vanished: findVanished(db, projectId),
    vendor_endpoints: findEndpointFindings(db, projectId),
    watched: findWatched(db, projectId),
    unwell: findUnwell(db, projectId),
    by_mute: countByMute(db, projectId, since_minute * MINUTE, now),
    fetches_failed: countFailedFetches(db, projectId, now - HOUR),
    ambiguous: countMarked(db, projectId, 'ambiguous', MAX_COUNTED),
    incomplete: countMarked(db, projectId, 'incomplete', MAX_COUNTED),
    items_missing: countMarked(db, projectId, 'items_missing', MAX_ITEMS_MISSING),
    unknown: countMarked(db, projectId, 'unknown', MAX_COUNTED),
    to_reseal: countToReseal(db, sealedIn(store), projectId, newest_key),
  }
}

/** Counts the objects that were fetched since a time (ms) and could not be applied: counts of events leave them out. */
function countFailedFetches(db: Db, projectId: string, since: number) {
  const isFailed = and(
    eq(events.project_id, projectId),
    sql`${events.status} = 'failed' AND ${events.due_at} IS NULL AND ${events.status} <> 'processed'`,
    gte(events.id, idFloor(PREFIX_OF.fetch, since)),
  )
  return raw(
    db,
    { n: sql<number>`count(*)` },
    (fields) =>
      sql`SELECT ${fields} FROM (SELECT 1 FROM ${events} INDEXED BY events_ended WHERE ${isFailed} LIMIT ${MAX_COUNTED})`,
  )
}

/** Counts the secrets of a project, in these columns, that are sealed under another encryption key than this one. */
export function countToReseal<D extends Db | Directory>(
  db: D,
  columns: readonly SealedColumn[],
  projectId: string,
  key: number,
) {
  const counts = columns.map(({ count }) => count(projectId, key))
  return raw(db, { n: sql<number>`${sql.join(counts, sql` + `)}` }, (fields) => sql`SELECT ${fields}`)
}

/** Reads the numbers of the whole deployment, over all projects. Open events of deleted projects do not count. */
export function deployment(db: Db, now: number) {
  const from = sql`p CROSS JOIN ${events} INDEXED BY events_open`
  const where = sql`${isOpenProject} AND ${events.project_id} = p.id`
  return {
    finals: db
      .select({ status: totals.status, n: sql<number>`sum(${totals.n})` })
      .from(totals)
      .groupBy(totals.status),
    open: countOpen(db, { walk: sql`WITH RECURSIVE ${openProjects}`, from, where }, now),
    held: raw(
      db,
      { n: sql<number>`count(*)` },
      (fields) => sql`SELECT ${fields} FROM (${firstHeld(not(isDeleted(connections.project_id)))})`,
    ),
    noted: db.select().from(state),
  }
}

/**
 * Counts open events that are not held by status: the first so many of them, in the order of their index.
 *
 * @param among which events. `walk`: what comes before the SELECT
 */
function countOpen(db: Db, among: { walk?: SQL; from: SQL; where: SQL }, now: number) {
  const { walk = sql``, from, where } = among
  const expired = and(inArray(open.status, leftBy('take_over')), lte(open.lease_until, now))
  return raw(
    db,
    {
      status: open.status,
      n: sql<number>`count(*)`,
      /**
       * The first of the events that no replay opened, and the first of the replays that opened the others: ids contain
       * a time. For events that were held: the time (ms) of the first release.
       */
      oldest_event: sql<
        string | null
      >`min(${open.id}) FILTER (WHERE ${open.replay_id} IS NULL AND ${open.released_at} IS NULL)`,
      oldest_replay: sql<string | null>`min(${open.replay_id}) FILTER (WHERE ${open.released_at} IS NULL)`,
      oldest_released: sql<number | null>`min(${open.released_at})`,
      expired: sql<number>`sum(coalesce(${expired}, 0))`,
    },
    (fields) => sql`${walk} SELECT ${fields} FROM (
      SELECT ${events.status}, ${events.id}, ${events.replay_id}, ${events.released_at}, ${events.lease_until} FROM ${from}
      WHERE ${where} AND ${notOnHold(events)} AND ${isDelivered(events.id)} LIMIT ${MAX_COUNTED}) open
      GROUP BY ${open.status}`,
  )
}

/** The first {@link MAX_COUNTED} events that connections hold: the id of the connection of each. @param which of the connections */
function firstHeld(which: SQL | undefined): SQL {
  const { from, where } = holding(which, MAX_COUNTED)
  return sql`SELECT ${connections.id} AS id FROM ${from} CROSS JOIN ${events} INDEXED BY events_open
    WHERE ${where} AND ${onHoldBy(events)} AND ${isDelivered(events.id)} LIMIT ${MAX_COUNTED}`
}

/**
 * Counts the held events of each connection that may hold some. The counts are exact if they are below {@link MAX_COUNTED} in all.
 * Otherwise they are lower bounds, of which none is 0 while the connection holds an event.
 *
 * @param which of the connections
 */
export function countHeld(db: Db, which: SQL | undefined) {
  const { from, where, share } = holding(which, MAX_COUNTED)
  const own = sql`coalesce((SELECT n FROM counted WHERE counted.id = ${connections.id}), 0)`
  const limit = sql`CASE WHEN (SELECT total(n) FROM counted) < ${MAX_COUNTED} THEN 0 ELSE ${share} END`
  const shared = sql`SELECT 1 FROM ${events} INDEXED BY events_open WHERE ${onHoldBy(events)} AND ${isDelivered(events.id)} LIMIT ${limit}`
  return raw(
    db,
    { id: connections.id, n: sql<number>`max(${own}, (SELECT count(*) FROM (${shared})))` },
    (fields) => sql`WITH counted AS MATERIALIZED (SELECT id, count(*) AS n FROM (${firstHeld(which)}) GROUP BY 1)
      SELECT ${fields} FROM ${from} WHERE ${where}`,
  )
}

/** Reads whether the project has, or had, this connection: a row if so. */
export function connectionExists(db: Db, projectId: string, id: string) {
  return db
    .select({ id: connections.id })
    .from(connections)
    .where(and(eq(connections.id, id), eq(connections.project_id, projectId)))
}

/** Reads the rollups of a range of minutes for one connection or for all, in no order. Rows of one minute are to be added up. */
export function readMinutes(
  db: Db,
  projectId: string,
  range: Minutes,
  connectionId: string | null,
): Query<MinuteRow[]> {
  const columns = getTableColumns(minutes)
  if (connectionId === null) {
    const all = rollups(projectId, range, null)
    return raw(db, columns, (fields) => sql`SELECT ${fields} FROM ${all}`)
  }
  // The key is (project, minute, connection): each minute is looked up by itself, or one connection of many would cost
  // the rows of all.
  const each = sql`FROM t CROSS JOIN ${minutes} ON ${minutes.project_id} = ${projectId}
    AND ${minutes.minute} = t.minute AND ${minutes.connection_id} = ${connectionId}`
  return raw(
    db,
    columns,
    (fields) => sql`WITH RECURSIVE t(minute) AS (
        SELECT CAST(${range.from} AS INTEGER) UNION ALL SELECT minute + 1 FROM t WHERE minute + 1 < ${range.to})
      SELECT ${fields} FROM ${rollups(projectId, range, connectionId, each)}`,
  )
}

/** Refused deliveries of a connection for one cause. `minute`: the last minute in which there were any. */
export type RefusedFor = { cause: string; n: number; minute: number }

/**
 * Reads the refused deliveries of a connection in a range of minutes, `to` exclusive, by cause. Each minute is looked up
 * by itself, as in {@link readMinutes}.
 */
export function readRefusals(
  db: Db,
  projectId: string,
  { from, to }: Minutes,
  connectionId: string,
): Query<RefusedFor[]> {
  const fields = {
    cause: sql<string>`j.key`,
    n: sql<number>`sum(j.value)`,
    minute: sql<number>`max(${minutes.minute})`,
  }
  return raw(
    db,
    fields,
    (list) => sql`WITH RECURSIVE t(minute) AS (
        SELECT CAST(${from} AS INTEGER) UNION ALL SELECT minute + 1 FROM t WHERE minute + 1 < ${to})
      SELECT ${list} FROM t CROSS JOIN ${minutes} ON ${minutes.project_id} = ${projectId}
        AND ${minutes.minute} = t.minute AND ${minutes.connection_id} = ${connectionId}
      CROSS JOIN json_each(${minutes.refused}) j GROUP BY j.key ORDER BY 2 DESC`,
  )
}

/** What a project received in an hour. `hour`: hours since the epoch. */
export type HourRow = { hour: number; received: number; failed: number; refused: number }

/** Reads what a project received and refused in each hour of a range of hours, `to` exclusive. Quiet hours have no row. */
export function readHours(db: Db, projectId: string, { from, to }: { from: number; to: number }): Query<HourRow[]> {
  const refused = sql`(SELECT sum(value) FROM json_each(${minutes.refused}))`
  const fields = {
    hour: sql<number>`${minutes.minute} / 60`,
    received: sql<number>`sum(${minutes.received})`,
    failed: sql<number>`sum(${minutes.failed})`,
    refused: sql<number>`coalesce(sum(CASE WHEN ${minutes.refused} <> '{}' THEN ${refused} END), 0)`,
  }
  const rows = rollups(projectId, { from: from * 60, to: to * 60 }, null)
  return raw(db, fields, (list) => sql`SELECT ${list} FROM ${rows} GROUP BY 1`)
}
