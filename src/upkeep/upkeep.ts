import { ANSWER_TIMEOUT_MS } from '../db/answered'
import { type Database, run } from '../db/client'
import { checkDue } from '../domains/check'
import type { Runtime } from '../env'
import { type Figures, readFigures } from '../health/deployment'
import { noteFull } from '../http/database-full'
import { writeLog } from '../http/log'
import { measure, measureErrors } from '../http/measure'
import { sweep } from '../inbox/process/sweep'
import { Fault } from '../lib/fault'
import { readState, writeState } from '../stores/state'
import { noteSeen, type SeenStore } from '../stores/store'
import type { Budget } from './budget'
import { resendDue } from './due'
import { housekeep } from './housekeeping'
import { LANES, RUN_STATEMENTS, STORE_MS, STORE_STATEMENTS } from './limits'
import { reseal } from './reseal'

/**
 * The cron's work of a minute, store by store: the sweep, everything else that is due, the sealing of secrets, the metrics, and housekeeping. A few stores
 * are worked on at once. If one fails, the others still run. If there are too many for one run, the next one continues.
 * Then the domains that are due.
 *
 * @throws after all of it, if a part has failed, so that the platform counts the run as failed
 */
export async function upkeep(rt: Runtime): Promise<void> {
  const failures: string[] = []
  const failed: Failed = (store, task, error) => {
    failures.push(`store ${store}, ${task}: ${error}`)
    writeLog('error', 'upkeep_failed', { store, task, error: String(error) })
  }
  const turn = await turnOf(rt, failed)
  const seen = await visitAll(rt, turn, failed)
  const domainFailed = (error: unknown) => failed(0, 'domains', error)
  await checkDue(rt, domainFailed).catch(domainFailed)
  await note(rt, seen, turn[seen.length - 1]).catch((error) => failed(0, 'noting', error))
  measureErrors(rt, 'cron')
  if (failures.length > 0) throw new Error(`upkeep failed: ${failures.join('; ')}`)
}

type Failed = (store: number, task: string, error: unknown) => void

/** The stores in the order in which this run visits them: it begins after the one that the last run ended with. */
async function turnOf({ directory, stores }: Runtime, failed: Failed): Promise<readonly number[]> {
  if (stores.length === 1) return stores
  try {
    const [until] = await run(directory, readState(directory, 'stores_until'))
    const begin = stores.findIndex((store) => store > (until?.value ?? -1))
    return begin < 1 ? stores : [...stores.slice(begin), ...stores.slice(0, begin)]
  } catch (error) {
    failed(0, 'turn', error)
    return stores
  }
}

/**
 * Visits stores, a few at once. Each may send its share of the run's statements, and a visit begins only while what is left
 * is enough for a whole share: so a run stays within what D1 takes.
 */
async function visitAll(rt: Runtime, turn: readonly number[], failed: Failed): Promise<SeenStore[]> {
  const lanes = Math.min(turn.length, LANES)
  const share = Math.min(STORE_STATEMENTS, Math.floor(RUN_STATEMENTS / lanes))
  const seen: SeenStore[] = []
  const left = [...turn]
  const underWay = new Set<Promise<void>>()
  let spent = 0 // by visits that have ended
  while (left.length > 0) {
    if (underWay.size < lanes && spent + share * (underWay.size + 1) <= RUN_STATEMENTS) {
      const inside = rt.at(left.shift() as number) as Runtime
      const before = inside.db.meter.statements
      const work = visit(inside, share, failed).then((one) => {
        seen.push(one)
        spent += inside.db.meter.statements - before
        underWay.delete(work)
      })
      underWay.add(work)
    } else if (underWay.size > 0) await Promise.race(underWay)
    else break
  }
  await Promise.all(underWay)
  return seen
}

/**
 * The work in one store. If a part fails, the others still run. Parts for which no time is left wait for the next run.
 */
async function visit(rt: Runtime, share: number, failed: Failed): Promise<SeenStore> {
  const { store, db } = rt
  const budget = budgetOf(db, share)
  const errors: unknown[] = []
  let figures: Figures | null = null
  const fail = (task: string, error: unknown) => {
    errors.push(error)
    failed(store, task, error)
    if (error instanceof Fault && error.fault === 'database_full') noteFull(rt)
  }
  const parts = {
    sweep: () => sweep(rt, budget),
    due: () => resendDue(rt),
    reseal: () => reseal(rt, budget),
    observe: async () => {
      figures = await observe(rt)
    },
    housekeeping: () => housekeep(rt, budget, fail),
  }
  for (const [task, work] of Object.entries(parts)) {
    // If a database hangs, the first parts use up all of its time.
    if (Date.now() >= budget.until) break
    const startedAt = Date.now()
    await work().catch((error) => fail(task, error))
    // A database that does not answer at all: the rest would only wait too, each with a connection of this run.
    if (Date.now() - startedAt >= ANSWER_TIMEOUT_MS && errors.length > 0) break
  }
  const { migration = null, sealed_under = null } = (figures as Figures | null) ?? {}
  const error = errors.length === 0 ? null : String(errors[0])
  return { number: store, error, size_bytes: db.meter.size_bytes, migration, sealed_under }
}

/** Statements to the directory come on top of those to its store. */
function budgetOf({ meter }: Database, share: number): Budget {
  return { statements: meter.statements + share, until: Date.now() + STORE_MS }
}

/** Notes what this run saw of the stores, and the store with which it ended if it did not reach all of them. */
async function note(
  { directory, stores, now }: Runtime,
  seen: readonly SeenStore[],
  last: number | undefined,
): Promise<void> {
  await noteSeen(directory, seen, now)
  if (seen.length < stores.length && last !== undefined) await writeState(directory, 'stores_until', last)
}

/**
 * Writes the figures of a store to Analytics Engine, once a minute. An unknown number is -1, because a data point has
 * no empty column.
 */
async function observe(rt: Runtime): Promise<Figures> {
  const numbers = await readFigures(rt)
  measure(rt, 'state', {
    store: String(rt.store),
    open: numbers.open,
    oldest_pending_ms: numbers.oldest_pending_age_ms ?? 0,
    expired_leases: numbers.expired_leases,
    queue_backlog: numbers.queue_backlog ?? -1,
    database_bytes: numbers.database_bytes ?? -1,
  })
  return numbers
}
