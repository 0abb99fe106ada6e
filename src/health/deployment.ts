import { batch } from '../db/client'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { sealingKey } from '../lib/seal'
import type { StateName } from '../stores/schema'
import { newestMigration } from '../stores/store'
import { countsOf, openFacts } from './assess'
import { backlogOf } from './health'
import { deployment } from './read'

/**
 * The figures of a store, over all of its projects, in one round trip. Only a limited number of open events is counted,
 * and the oldest one is the oldest of these.
 *
 * @param rt at the store
 * @throws {Fault} `database_unavailable`
 */
export async function readFigures(rt: Runtime) {
  const { db, now } = rt
  const statements = { ...deployment(db, now), migration: newestMigration(db) }
  const [found, queue_backlog] = await Promise.all([batch(db, statements), backlogOf(rt)])
  const noted = (name: StateName) => found.noted.find((row) => row.name === name)?.value
  // The number of the key under which the cron found every secret; 0 if it has not, or if no key opens one of them.
  const sealed_under = (noted('not_resealed') ?? 0) > 0 ? 0 : (noted('sealed_under') ?? 0)
  return {
    store: rt.store,
    ...openFacts(found.open, now),
    counts: countsOf(found),
    open: found.open.reduce((sum, { n }) => sum + n, 0),
    /** For the whole deployment. Only the directory knows it; null for any other store. */
    dead_letters: rt.store === 0 ? (noted('dead_letters') ?? 0) : null,
    /** Milliseconds since the epoch; null if the sweep has never run. */
    last_sweep_at: noted('last_sweep_at') ?? null,
    sealed_under,
    reseal_pending: isResealPending(rt, [sealed_under]),
    database_bytes: db.meter.size_bytes,
    migration: found.migration[0]?.name ?? null,
    queue_backlog,
  }
}

/**
 * Whether secrets may be left that an older encryption key has sealed, or that no key opens: the cron has not found that there are none.
 *
 * @param sealedUnder of each store, the number of the key under which all of its secrets are; 0 or null if that is not known
 */
export function isResealPending({ settings }: Runtime, sealedUnder: readonly (number | null)[]): boolean {
  const newest = sealingKey(settings.encryptionKeys)
  return sealedUnder.some((key) => key !== newest)
}

export type Figures = Awaited<ReturnType<typeof readFigures>>

/**
 * The figures of every store. `down`: the stores that do not answer.
 *
 * @throws {Fault} `database_unavailable` if none answers
 */
export async function readDeployment(rt: Runtime): Promise<{ up: Figures[]; down: number[] }> {
  const read = rt.stores.map((store) => readFigures(rt.at(store) as Runtime))
  const results = await Promise.allSettled(read)
  const up = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const down = rt.stores.filter((_, i) => results[i]?.status === 'rejected')
  const failed = results.find((one) => one.status === 'rejected')
  if (up.length === 0 && failed) throw failed.reason
  if (failed) writeLog('warn', 'stores_not_read', { stores: down, error: String(failed.reason) })
  return { up, down }
}

export type Deployment = Awaited<ReturnType<typeof readDeployment>>
