import { and, eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { batch, type Db, type Results, run } from '../db/client'
import { CHUNK_ROWS } from '../db/limits'
import { refusedNull } from '../db/refused'
import { watchers } from '../followers/schema'
import { newId } from '../lib/ids'
import { RUN_STEPS, STEP } from './limits'
import { lookAt } from './look'
import { planOf, type ToDo } from './plan'
import { changesIn, selectToDo, taken, type Watcher } from './read'
import { entitlementStates } from './schema'
import { goesOverAll, joined } from './walk'
import { type Reached, restAfter, writeStep } from './write'

const w = alias(watchers, 'w')
const s = alias(entitlementStates, 's')

/**
 * Works on the watcher of a project, step by step: what has changed, whose time has come, and the next consumers of its walk.
 *
 * @param goesOn whether there is room for another step
 * @returns in how many milliseconds it goes on with what is left to do; null if nothing is, or another worker has the watcher
 * @throws {Fault} `database_unavailable`
 */
export async function runWatcher(db: Db, projectId: string, goesOn: () => boolean): Promise<number | null> {
  const token = newId('lse', Date.now())
  let most = STEP.consumers
  let written = 0
  for (let step = 0; step < RUN_STEPS && (step === 0 || goesOn()); step++) {
    const lease = { token, now: Date.now() }
    const found = await batch(db, {
      ...(step === 0 && { taken: taken(db, projectId, lease) }),
      ...selectToDo(db, projectId, token),
    })
    const [watcher] = found.watcher
    if (!watcher) return null
    if (watcher.state === 'off') return (await removeStates(db, watcher)) ? 0 : null
    try {
      const done = await takeStep(db, watcher, found, { most, written })
      if (done.isFree) return null
      written = done.written
      most = Math.min(STEP.consumers, 2 * done.most)
    } catch (error) {
      if (isOvertaken(error)) return null
      throw error
    }
  }
  const rest = restAfter(written)
  await run(db, letGoOf(db, projectId, { token, rest }))
  return rest
}

/** Whether another worker has moved a watcher, or it was switched. */
const isOvertaken = (error: unknown) => refusedNull(error, watchers.version)

type Found = Results<ReturnType<typeof selectToDo>>

/**
 * Takes one step.
 *
 * @param at `most`: consumers that it looks at; `written`: bytes that the run has written
 * @returns `isFree`: whether nothing is left to do; `most`: how many consumers were not too much
 * @throws {ConstraintError} see {@link isOvertaken}
 */
async function takeStep(
  db: Db,
  watcher: Watcher,
  found: Found,
  at: { most: number; written: number },
): Promise<{ isFree: boolean; most: number; written: number }> {
  const epoch = found.epoch[0]?.epoch ?? ''
  if (isLost(watcher, found)) {
    return {
      ...(await writeStep(db, watcher, { ...begunAgain(watcher, found), written: at.written }, NOTHING)),
      most: at.most,
    }
  }
  const toDo = toDoIn(watcher, found)
  for (let { most } = at; ; ) {
    const plan = planOf(toDo, most)
    const seen = await lookAt(db, watcher.project_id, plan)
    if (seen) {
      const { position, after: walk } = plan
      const isWatching = watcher.state === 'starting' && !goesOverAll(walk)
      const state = isWatching ? 'on' : watcher.state
      const isIdle = plan.isAll && walk.causes.length === 0
      const reached = { state, position, epoch, walk, isIdle, written: at.written }
      return { ...(await writeStep(db, watcher, reached, seen)), most }
    }
    most = Math.max(1, Math.floor(Math.min(most, plan.consumers.size) / 2))
  }
}

const NOTHING = { outcomes: [], skipped: [] }

function toDoIn({ position, walk }: Watcher, { page, due, states, everybody }: Found): ToDo {
  const met = (goesOverAll(walk) ? everybody : states).map(({ id }) => id)
  return {
    position,
    walk,
    page: changesIn(page, position),
    last: page.at(-1)?.seq ?? position,
    due: due.map(({ id }) => id),
    met,
    isEnd: met.length <= STEP.consumers,
  }
}

/** Whether changes behind the position were deleted before they were read, or the database was restored. */
function isLost({ position, epoch }: Watcher, { epoch: [own], head: [head], oldest: [oldest] }: Found): boolean {
  return epoch !== own?.epoch || position > (head?.seq ?? 0) || position < (oldest?.first ?? 1) - 1
}

/** Goes on behind the newest change, with a walk over everybody. What it tells is what has become different since the states. */
function begunAgain(watcher: Watcher, { epoch: [own], head: [head] }: Found): Omit<Reached, 'written'> {
  const cause = { number: null, type: watcher.state === 'starting' ? 'start' : 'gap', at: 0, all: true }
  const from = { at: '', causes: [] }
  const walk = joined(from, [cause])
  return { state: watcher.state, position: head?.seq ?? 0, epoch: own?.epoch ?? '', walk, isIdle: false }
}

/** Deletes a part of what a watcher that is off has left. @returns whether there is more */
async function removeStates(db: Db, { project_id, lease_token }: Watcher): Promise<boolean> {
  const isOff = sql`EXISTS (SELECT 1 FROM ${watchers} ${w} WHERE ${w.project_id} = ${project_id} AND ${w.state} = 'off')`
  const some = sql`SELECT ${s.project_id}, ${s.consumer_id} FROM ${entitlementStates} ${s}
    WHERE ${s.project_id} = ${project_id} AND ${isOff} LIMIT ${CHUNK_ROWS}`
  const { gone } = await batch(db, {
    gone: db
      .delete(entitlementStates)
      .where(sql`(${entitlementStates.project_id}, ${entitlementStates.consumer_id}) IN (${some})`)
      .returning({ id: entitlementStates.consumer_id }),
    free: letGoOf(db, project_id, { token: lease_token ?? '', rest: 0 }),
  })
  return gone.length === CHUNK_ROWS
}

/** @param rest how long nobody may take it (ms) */
function letGoOf(db: Db, projectId: string, { token, rest }: { token: string; rest: number }) {
  return db
    .update(watchers)
    .set({ lease_token: null, lease_until: rest > 0 ? Date.now() + rest : 0 })
    .where(and(eq(watchers.project_id, projectId), eq(watchers.lease_token, token)))
}
