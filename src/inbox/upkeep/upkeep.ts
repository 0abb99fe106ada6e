import type { Runtime } from '../../env'
import { purgeEnded } from '../../sessions/store'
import { housekeeping } from './housekeeping'
import { DAILY_HOUR } from './limits'
import { reseal } from './reseal'
import { sweep } from './sweep'

/**
 * The cron's work: every minute the sweep and the sealing of secrets, once a day everything that a day is enough for.
 *
 * @param open opens a runtime for each piece of work, so that each logs its own cost
 * @param scheduledTime the minute that the cron fired for (ms)
 */
export async function upkeep(open: () => Runtime, scheduledTime: number): Promise<void> {
  await sweep(open())
  await reseal(open())
  if (!isDaily(scheduledTime)) return
  const rt = open()
  await purgeEnded(rt.db, rt.now)
  await housekeeping(rt)
}

function isDaily(scheduledTime: number): boolean {
  const at = new Date(scheduledTime)
  return at.getUTCHours() === DAILY_HOUR && at.getUTCMinutes() === 0
}
