import { batch } from '../../db/client'
import type { Runtime } from '../../env'
import type { StateName } from '../upkeep/schema'
import { backlogOf, countsOf, openFacts } from './health'
import { deployment } from './store'

/**
 * The whole deployment in numbers, over all projects, in one round trip. Only the first open events are counted, so the
 * oldest one is the oldest of these.
 *
 * @throws {Fault} `database_unavailable`
 */
export async function readDeployment(rt: Runtime) {
  const { db, now } = rt
  const [found, queue_backlog] = await Promise.all([batch(db, deployment(db, now)), backlogOf(rt)])
  const noted = (name: StateName) => found.noted.find((row) => row.name === name)?.value
  return {
    ...openFacts(found.open, now),
    counts: countsOf(found),
    open: found.open.reduce((sum, { n }) => sum + n, 0),
    dead_letters: noted('dead_letters') ?? 0,
    /** Milliseconds since the epoch; null if the sweep has never run. */
    last_sweep_at: noted('last_sweep_at') ?? null,
    database_bytes: db.meter.size_bytes,
    queue_backlog,
  }
}

export type Deployment = Awaited<ReturnType<typeof readDeployment>>
