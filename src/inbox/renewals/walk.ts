import { and, type Column, eq, gt, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { addToSums, type Countable, type Sum } from '../../billing/days/count'
import { noteDays } from '../../billing/days/store'
import { isOverdue, saidBy } from '../../billing/overdue/overdue'
import { overdueSubscriptions, renewalCounts } from '../../billing/overdue/schema'
import { billingObjects } from '../../billing/schema'
import { batch, type Db, raw } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { excluded } from '../../db/sql'
import { DAY, HOUR } from '../../lib/time'
import { PROJECTS_AT_ONCE } from '../../tenancy/limits'
import type { PassStart, PassStep } from '../../tenancy/pass'
import { projects } from '../../tenancy/schema'
import { connections } from '../connections/schema'
import { askForOverdue } from './ask'
import { COUNTABLE, measured } from './countable'
import { DUE_WITHIN, WALK_HOURS, WALKED_AT_ONCE } from './limits'
import { countsKept, missingTold } from './missing'

/**
 * The place that a walk has come to: after a subscription of a project, or after all of a project. `walk`: its number. `sums`: what was
 * counted so far of a project of which there may be more.
 */
type Place = { walk: number; project: string; after?: { id: string; vendor: string }; sums?: Sum[] }

/**
 * One step of a walk over all subscriptions of a store, every six hours. It finds the overdue ones, and counts how many were due to renew. It
 * counts the subscriptions of each project, too: see billing/days. If the project has a key for the vendor's API, the service asks the vendor for subscriptions that have just become overdue.
 *
 * @param start.after the place that the last step came to, as it says; empty: the beginning
 */
export async function walkRenewals(db: Db, { store, after }: PassStart, now: number): Promise<PassStep> {
  const hour = Math.floor(now / HOUR)
  if (after === '' && hour % WALK_HOURS !== 0) return { done: 0, after: null }
  const place: Place = after === '' ? { walk: hour / WALK_HOURS, project: '' } : JSON.parse(after)
  const { walked, nextProject } = await batch(db, readNext(db, store, place, now))
  const overdue = walked.filter((row) => row.is_overdue)
  const next = placeAfter(walked, nextProject[0]?.id)
  const today = Math.floor((place.walk * WALK_HOURS * HOUR) / DAY)
  const sums = addToSums(place.sums ?? [], walked, today)
  const isUnderWay = (sum: Sum) => next?.after !== undefined && sum.project_id === next.project
  if (sums.length > 0) {
    await batch(db, {
      // First, because it asks which of them were overdue before.
      asked: askForOverdue(db, overdue, now),
      found: noteOverdue(db, overdue),
      gone: forgetOthers(
        db,
        walked.filter((row) => !row.is_overdue),
      ),
      counts: addCounts(db, walked, place.walk, now),
      ...noteDays(
        db,
        sums.filter((sum) => !isUnderWay(sum)),
        { today, now },
      ),
    })
  }
  if (next === null) await batch(db, { kept: countsKept(db, place.walk), told: missingTold(db, now) })
  return {
    done: overdue.length,
    after: next && JSON.stringify({ walk: place.walk, ...next, sums: sums.filter(isUnderWay) }),
  }
}

/** Where the next step begins: after the last subscription if there may be more, else after the projects that this step looked at. */
function placeAfter(walked: readonly Walked[], nextProject: string | undefined): Omit<Place, 'walk'> | null {
  const last = walked.at(-1)
  if (last && walked.length >= WALKED_AT_ONCE) {
    return { project: last.project_id, after: { id: last.vendor_id, vendor: last.vendor } }
  }
  return nextProject === undefined ? null : { project: nextProject }
}

type Walked = Countable & {
  vendor: string
  vendor_id: string
  period_start: string | null
  period_end: string | null
  started_at: string | null
  is_overdue: boolean
  renews: boolean
}

/**
 * Reads the next subscriptions: the rest of the project that the walk is in, then those of the next projects. Also the last of these projects,
 * if there may be others after it.
 */
function readNext(db: Db, store: number, { project, after }: Place, now: number) {
  const o = billingObjects
  const kind = eq(o.kind, 'subscription')
  const later = and(eq(projects.store, store), gt(projects.id, project))
  const open = sql`SELECT id FROM (SELECT ${projects.id}, ${projects.deleted_at} FROM ${projects} WHERE ${later}
    ORDER BY ${projects.id} LIMIT ${PROJECTS_AT_ONCE}) WHERE deleted_at IS NULL`
  const rest = sql`SELECT ${o}.* FROM ${o} INDEXED BY billing_key WHERE ${and(eq(o.project_id, project), kind)}
    AND (${o.vendor_id}, ${o.vendor}) > (${after?.id ?? ''}, ${after?.vendor ?? ''}) ORDER BY ${o.vendor_id}, ${o.vendor} LIMIT ${after ? WALKED_AT_ONCE : 0}`
  // CROSS JOIN keeps their order: project by project, each by the key of its objects.
  const others = sql`SELECT ${o}.* FROM (${open}) p CROSS JOIN ${o} INDEXED BY billing_key
    ON ${o.project_id} = p.id AND ${kind} LIMIT ${WALKED_AT_ONCE}`
  const isConnected = sql`EXISTS (SELECT 1 FROM ${connections} INDEXED BY connections_project
    WHERE ${and(eq(connections.project_id, o.project_id), eq(connections.vendor, o.vendor), eq(connections.livemode, true), isNull(connections.deleted_at), ne(connections.status, 'disabled'))})`
  const fields = {
    ...COUNTABLE,
    vendor: o.vendor,
    vendor_id: o.vendor_id,
    period_start: measured('current_period_start'),
    period_end: measured('current_period_end'),
    /** A subscription that has just begun has not renewed. */
    started_at: measured('started_at'),
    /** A vendor that is not connected cannot send anything. */
    is_overdue: sql<boolean>`${isOverdue(o, now)} AND ${isConnected}`.mapWith(Boolean),
    renews: sql<boolean>`${o.status} IN ('active', 'past_due') AND coalesce(${saidBy(o, 'livemode')}, 1) = 1`.mapWith(
      Boolean,
    ),
  }
  return {
    walked: raw(
      db,
      fields,
      (list) =>
        sql`SELECT ${list} FROM (SELECT * FROM (${rest}) UNION ALL SELECT * FROM (${others}) LIMIT ${WALKED_AT_ONCE}) ${o}`,
    ),
    nextProject: db
      .select({ id: projects.id })
      .from(projects)
      .where(later)
      .orderBy(projects.id)
      .limit(1)
      .offset(PROJECTS_AT_ONCE - 1),
  }
}

const keysOf = (rows: readonly Walked[]) =>
  JSON.stringify(
    rows.map(({ project_id, vendor, vendor_id, period_end }) => [project_id, vendor, vendor_id, period_end]),
  )

/** Notes which subscriptions are overdue. */
function noteOverdue(db: Db, rows: readonly Walked[]) {
  const { period_end } = overdueSubscriptions
  return insertFrom(
    db,
    overdueSubscriptions,
    {
      project_id: sql`j.value->>0`,
      vendor: sql`j.value->>1`,
      vendor_id: sql`j.value->>2`,
      period_end: sql`j.value->>3`,
    },
    sql`FROM json_each(${keysOf(rows)}) j WHERE true
      ON CONFLICT DO UPDATE SET period_end = excluded.period_end WHERE ${period_end} <> excluded.period_end`,
  )
}

/** Forgets the subscriptions in this list that were overdue, because they no longer are. */
function forgetOthers(db: Db, rows: readonly Walked[]) {
  const { project_id, vendor, vendor_id } = overdueSubscriptions
  return db
    .delete(overdueSubscriptions)
    .where(
      sql`(${project_id}, ${vendor}, ${vendor_id}) IN (SELECT j.value->>0, j.value->>1, j.value->>2 FROM json_each(${keysOf(rows)}) j)`,
    )
}

/** Adds to the counts of a walk: the subscriptions that renewed in the last week, and those that should have and are overdue. */
function addCounts(db: Db, rows: readonly Walked[], walk: number, now: number) {
  const since = new Date(now - DUE_WITHIN).toISOString()
  const isRecent = (time: string | null) => time !== null && time >= since && time <= new Date(now).toISOString()
  const groups = Map.groupBy(rows, ({ project_id, vendor }) => JSON.stringify([project_id, vendor]))
  const counts = [...groups].map(([key, some]) => {
    const overdue = some.filter((row) => row.is_overdue && isRecent(row.period_end)).length
    const renewed = some.filter(
      (row) => row.renews && !row.is_overdue && isRecent(row.period_start) && !isRecent(row.started_at),
    ).length
    return [...JSON.parse(key), overdue + renewed, overdue]
  })
  const { walk: of, next_due, next_overdue } = renewalCounts
  const added = (column: Column): SQL =>
    sql`${sql.identifier(column.name)} = iif(${of} = ${excluded(of)}, ${column}, 0) + ${excluded(column)}`
  const row = {
    project_id: sql`j.value->>0`,
    vendor: sql`j.value->>1`,
    walk: sql`CAST(${walk} AS INTEGER)`,
    next_due: sql`j.value->>2`,
    next_overdue: sql`j.value->>3`,
  }
  return insertFrom(
    db,
    renewalCounts,
    row,
    sql`FROM json_each(${JSON.stringify(counts)}) j WHERE true
      ON CONFLICT DO UPDATE SET ${added(next_due)}, ${added(next_overdue)}, walk = excluded.walk`,
  )
}
