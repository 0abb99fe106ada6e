import { eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { recordChanges } from '../changes/record'
import { changes, type StoredChange } from '../changes/schema'
import { batch, type Db, type Queries, rawWrite } from '../db/client'
import { bare, excluded, jsonLists, valuesOf } from '../db/sql'
import { type Walk, watchers } from '../followers/schema'
import { utf8 } from '../lib/crypto'
import { SECOND } from '../lib/time'
import { FREE_WRITTEN, LEASE_MS, MAX_TOLD_ROW, SKIPPED_WAIT_MS, WRITTEN_IN_A_SECOND } from './limits'
import type { Outcome, Seen } from './look'
import type { Watcher } from './read'
import { entitlementStates } from './schema'

const c = alias(changes, 'c')

/** Where a watcher is after a step. `isIdle`: whether the step did all that it read. `written`: bytes that the run wrote before it. */
export type Reached = Pick<Watcher, 'state' | 'position' | 'epoch'> & { walk: Walk; isIdle: boolean; written: number }

/** How long a watcher rests (ms) after a run that has written so many bytes. */
export function restAfter(written: number): number {
  return Math.round((Math.max(0, written - FREE_WRITTEN) / WRITTEN_IN_A_SECOND) * SECOND)
}

/**
 * Writes what a step has seen: the changes, the states and the position, in one batch. It fails whole if another worker has moved the
 * watcher since it was read, which {@link isOvertaken} says.
 *
 * @returns whether the watcher was let go, because nothing is left to do, otherwise the worker still has it; and the bytes that the run has written
 * @throws {ConstraintError}
 */
export async function writeStep(
  db: Db,
  before: Watcher,
  reached: Reached,
  { outcomes, skipped }: Seen,
): Promise<{ isFree: boolean; written: number }> {
  const { project_id } = before
  const revision = before.version + 1
  const told = toldOf(before, reached, outcomes)
  const put = outcomes.filter(({ row }) => row === 'put')
  const gone = outcomes.filter(({ row }) => row === 'gone').map(({ consumer_id }) => consumer_id)
  const rows: Queries = {}
  const toldLists = listsOf(told)
  for (const [i, list] of toldLists.entries()) rows[`told${i}`] = recordChanges(db, itemsOf(project_id, list))
  const states = put.map(({ consumer_id, features, due_at }) => [consumer_id, features, due_at])
  const putLists = jsonLists(states)
  for (const [i, list] of putLists.entries()) rows[`put${i}`] = statesPut(db, { project_id, revision }, list)
  if (gone.length > 0) rows.gone = statesGone(db, project_id, gone)
  if (skipped.length > 0) rows.skipped = statesSkipped(db, { project_id, revision }, skipped)
  const written = [...toldLists, ...putLists].reduce((sum, list) => sum + utf8(list).byteLength, reached.written)
  const { moved } = await batch(db, { ...rows, moved: watcherMoved(db, before, { ...reached, written }, told.length) })
  return { isFree: moved[0]?.lease_token === null, written }
}

function toldOf({ state, project_id, version }: Watcher, reached: Reached, outcomes: readonly Outcome[]) {
  // The first walk is silent, and its end says that from here on everything is told.
  if (state === 'starting') {
    const item: StoredChange = { type: 'entitlements.watching', id: project_id }
    return reached.state === 'on' ? [item] : []
  }
  return outcomes.flatMap(({ consumer_id, told }): StoredChange[] =>
    told ? [{ type: 'entitlements.changed', id: consumer_id, revision: version + 1, consumer_id, ...told }] : [],
  )
}

/** Changes as JSON lists, each for a row of the feed. */
function listsOf(told: readonly StoredChange[]): string[] {
  const lists: string[][] = []
  let bytes = MAX_TOLD_ROW
  for (const item of told) {
    if (bytes >= MAX_TOLD_ROW) {
      lists.push([])
      bytes = 0
    }
    const text = JSON.stringify(item)
    lists.at(-1)?.push(text)
    bytes += utf8(text).byteLength
  }
  return lists.map((list) => `[${list.join()}]`)
}

function itemsOf(projectId: string, list: string): SQL {
  return sql`SELECT ${projectId} AS project_id, o.key AS place, o.value AS item FROM json_each(${list}) o`
}

type Of = { project_id: string; revision: number }

function statesPut(db: Db, { project_id, revision }: Of, list: string) {
  const { features, due_at, skipped_at } = entitlementStates
  return rawWrite(
    db,
    sql`INSERT INTO ${entitlementStates} (${columns()})
      SELECT ${project_id}, j.value ->> 0, j.value -> 1, j.value ->> 2, CAST(${revision} AS INTEGER), NULL FROM json_each(${list}) j
      WHERE true ON CONFLICT DO UPDATE SET ${bare(features)} = ${excluded(features)}, ${bare(due_at)} = ${excluded(due_at)},
        ${bare(entitlementStates.revision)} = ${excluded(entitlementStates.revision)}, ${bare(skipped_at)} = NULL`,
  )
}

function columns(): SQL {
  const { project_id, consumer_id, features, due_at, revision, skipped_at } = entitlementStates
  return bare(project_id, consumer_id, features, due_at, revision, skipped_at)
}

function statesGone(db: Db, projectId: string, ids: readonly string[]) {
  const { project_id, consumer_id } = entitlementStates
  return db.delete(entitlementStates).where(sql`${eq(project_id, projectId)} AND ${consumer_id} IN ${valuesOf(ids)}`)
}

/** Notes consumers that have too much to be looked at. What was told of them stays, and they are tried again later. */
function statesSkipped(db: Db, { project_id, revision }: Of, ids: readonly string[]) {
  const { due_at, skipped_at } = entitlementStates
  const now = Date.now()
  const [due, since] = [sql`CAST(${now + SKIPPED_WAIT_MS} AS INTEGER)`, sql`CAST(${now} AS INTEGER)`]
  return rawWrite(
    db,
    sql`INSERT INTO ${entitlementStates} (${columns()})
      SELECT ${project_id}, j.value, '{}', ${due}, CAST(${revision} AS INTEGER), ${since} FROM json_each(${JSON.stringify(ids)}) j
      WHERE true ON CONFLICT DO UPDATE SET ${bare(due_at)} = ${excluded(due_at)}, ${bare(skipped_at)} = ${excluded(skipped_at)}`,
  )
}

/** The number of the newest change, while the batch runs. */
const headOf = (projectId: string) =>
  sql`coalesce((SELECT max(${c.seq}) FROM ${changes} ${c} WHERE ${c.project_id} = ${projectId}), 0)`

/** Moves the watcher behind what it has read, and behind what it has just told if nothing else came in between. */
function watcherMoved(
  db: Db,
  { project_id, version }: Watcher,
  { state, position, epoch, walk, isIdle, written }: Reached,
  told: number,
) {
  const head = headOf(project_id)
  const ownLast = position + told
  const isFree = isIdle ? sql`${head} = ${ownLast}` : sql`0`
  // A rest is a lease that nobody has.
  const now = Date.now()
  const rest = restAfter(written)
  const restUntil = rest > 0 ? now + rest : 0
  return db
    .update(watchers)
    .set({
      // NULL, which the column refuses, fails the whole batch of a worker that another one has overtaken.
      version: sql`CASE WHEN ${watchers.version} = ${version} THEN ${watchers.version} + 1 END`,
      state,
      epoch,
      walk,
      position: sql`CAST(iif(${head} = ${ownLast}, ${ownLast}, ${position}) AS INTEGER)`,
      lease_token: sql`iif(${isFree}, NULL, ${watchers.lease_token})`,
      lease_until: sql`CAST(iif(${isFree}, ${restUntil}, ${now + LEASE_MS}) AS INTEGER)`,
    })
    .where(eq(watchers.project_id, project_id))
    .returning({ lease_token: watchers.lease_token })
}
