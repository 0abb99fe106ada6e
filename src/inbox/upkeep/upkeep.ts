import type { Runtime } from '../../env'
import { noteFull } from '../../http/database-full'
import { writeLog } from '../../http/log'
import { measureErrors } from '../../http/measure'
import { Fault } from '../../lib/fault'
import { housekeep } from './housekeeping'
import { RUN_MS, RUN_STATEMENTS } from './limits'
import { observe } from './observe'
import { reseal } from './reseal'
import { sweep } from './sweep'

/**
 * The cron's work of a minute: the sweep, the sealing of secrets, the metrics of the deployment, and housekeeping. If a
 * part fails, the others still run.
 *
 * @throws after all of them, if one has failed, so that the platform counts the run as failed
 */
export async function upkeep(rt: Runtime): Promise<void> {
  const budget = { statements: RUN_STATEMENTS, until: Date.now() + RUN_MS }
  const failures: string[] = []
  const failed = (task: string, error: unknown) => {
    failures.push(`${task}: ${error}`)
    writeLog('error', 'upkeep_failed', { task, error: String(error) })
    if (error instanceof Fault && error.fault === 'database_full') noteFull(rt)
  }
  const parts = {
    sweep: () => sweep(rt),
    reseal: () => reseal(rt, budget),
    observe: () => observe(rt),
    housekeeping: () => housekeep(rt.db, { now: rt.now, ...rt.settings }, budget, failed),
  }
  for (const [task, work] of Object.entries(parts)) await work().catch((error) => failed(task, error))
  measureErrors(rt, 'cron')
  if (failures.length > 0) throw new Error(`upkeep failed: ${failures.join('; ')}`)
}
