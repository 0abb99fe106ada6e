import { and, asc, eq, inArray, lte, not, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { changes, changesEpoch } from '../changes/schema'
import { consumers } from '../consumers/schema'
import { type Db, raw } from '../db/client'
import { fitsPage, valuesOf } from '../db/sql'
import { CLOCK } from '../entitlements/read'
import { watchers } from '../followers/schema'
import { isDeleted } from '../tenancy/project'
import { LEASE_MS, MAX_STEP_BYTES, STEP } from './limits'
import type { ReadChange } from './plan'
import { entitlementStates } from './schema'

const c = alias(changes, 'c')
const w = alias(watchers, 'w')
const s = alias(entitlementStates, 's')
const k = alias(consumers, 'k')

export type Watcher = typeof watchers.$inferSelect

/** Takes a watcher, so that no other worker reads the same. */
export function taken(db: Db, projectId: string, lease: { token: string; now: number }) {
  const isFree = lte(watchers.lease_until, lease.now)
  return db
    .update(watchers)
    .set({ lease_token: lease.token, lease_until: lease.now + LEASE_MS, woken_at: 0 })
    .where(and(eq(watchers.project_id, projectId), isFree, not(isDeleted(watchers.project_id))))
}

/** The statements that read what there is to do for a watcher, if the worker has it. */
export function selectToDo(db: Db, projectId: string, token: string) {
  const own = (value: SQL) => sql`(SELECT ${value} FROM ${watchers} ${w} WHERE ${w.project_id} = ${projectId})`
  const isOf = eq(changes.project_id, projectId)
  const walks = own(sql`json_array_length(${w.walk}, '$.causes') > 0`)
  const overAll = own(sql`EXISTS (SELECT 1 FROM json_each(${w.walk}, '$.causes') WHERE value ->> 'all')`)
  const at = own(sql`${w.walk} ->> 'at'`)
  // One more than a step looks at says that it does not do all.
  const most = STEP.consumers + 1
  return {
    watcher: db
      .select()
      .from(watchers)
      .where(and(eq(watchers.project_id, projectId), eq(watchers.lease_token, token))),
    epoch: db.select().from(changesEpoch),
    head: db
      .select({ seq: sql<number>`coalesce(max(${changes.seq}), 0)`.as('seq') })
      .from(changes)
      .where(isOf),
    oldest: db
      .select({ first: sql<number>`${changes.seq} - json_array_length(${changes.items}) + 1`.as('first') })
      .from(changes)
      .where(isOf)
      .orderBy(asc(changes.seq))
      .limit(1),
    page: changesBehind(db, projectId, own(sql`${w.position}`)),
    due: raw(
      db,
      { id: s.consumer_id },
      (fields) => sql`SELECT ${fields} FROM ${entitlementStates} ${s} INDEXED BY entitlement_states_due
        WHERE ${s.project_id} = ${projectId} AND ${s.due_at} <= ${CLOCK} ORDER BY ${s.due_at} LIMIT ${most}`,
    ),
    // One of these two goes on with the walk.
    states: raw(
      db,
      { id: s.consumer_id },
      (fields) => sql`SELECT ${fields} FROM ${entitlementStates} ${s} NOT INDEXED
        WHERE ${s.project_id} = ${projectId} AND ${s.consumer_id} > ${at} ORDER BY ${s.consumer_id}
        LIMIT iif(${walks} AND NOT ${overAll}, ${most}, 0)`,
    ),
    everybody: raw(
      db,
      { id: k.id },
      (fields) => sql`SELECT ${fields} FROM ${consumers} ${k} NOT INDEXED
        WHERE ${k.project_id} = ${projectId} AND ${k.id} > ${at} ORDER BY ${k.id} LIMIT iif(${overAll}, ${most}, 0)`,
    ),
  }
}

const shown = { seq: changes.seq, at: changes.at, items: changes.items }

/** Reads rows of changes behind a position, as far as they fit into a step. */
export function changesBehind(db: Db, projectId: string, position: SQL | number) {
  const fits = fitsPage(sql`octet_length(${c.items})`, MAX_STEP_BYTES, sql`seq`)
  const found = sql`SELECT ${c.seq}, ${c.at}, ${c.items}, ${fits} AS fits FROM ${changes} ${c}
    WHERE ${c.project_id} = ${projectId} AND ${c.seq} > ${position} ORDER BY seq LIMIT ${STEP.rows}`
  return raw(db, shown, (fields) => sql`SELECT ${fields} FROM (${found}) ${changes} WHERE fits ORDER BY seq`)
}

type Row = Pick<typeof changes.$inferSelect, 'seq' | 'at' | 'items'>

/** The changes of these rows behind a position. What a watcher has told itself is not read again. */
export function changesIn(rows: readonly Row[], position: number): ReadChange[] {
  const all = rows.flatMap(({ seq, at, items }) =>
    items.map((item, i) => ({ ...item, number: seq - items.length + 1 + i, at })),
  )
  return all.filter(({ number, type }) => number > position && !type.startsWith('entitlements.'))
}

/** Reads what was told of these consumers. */
export function statesOf(db: Db, projectId: string, ids: readonly string[]) {
  const { project_id, consumer_id, features, due_at, skipped_at } = entitlementStates
  return db
    .select({ consumer_id, features, due_at, skipped_at })
    .from(entitlementStates)
    .where(and(eq(project_id, projectId), inArray(consumer_id, valuesOf(ids))))
}
export type StateRow = ReturnType<typeof statesOf>['_']['result'][number]
