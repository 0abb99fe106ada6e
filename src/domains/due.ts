import type { Runtime } from '../env'
import { newId } from '../lib/ids'
import { type Checked, check, settle } from './check'
import { claimDue } from './claim-store'
import { LOOKUPS_AT_ONCE, RUN_FOR } from './limits'

/**
 * Checks the domains that are due: a few in each run. One that fails, or for which no time is left, is due again a few
 * minutes later.
 *
 * @param failed is told of a look-up that failed
 */
export async function checkDue(rt: Runtime, failed: (error: unknown) => void): Promise<void> {
  const { directory, now } = rt
  const { rows, holders } = await claimDue(directory, now)
  if (rows.length === 0) return
  const until = Date.now() + RUN_FOR
  const left = [...rows]
  const checked: Checked[] = []
  const lane = async () => {
    for (let row = left.shift(); row && Date.now() < until; row = left.shift()) {
      await check(rt, row, holders).then((one) => checked.push(one), failed)
    }
  }
  await Promise.all(Array.from({ length: LOOKUPS_AT_ONCE }, lane))
  const by = { type: 'system', id: 'cron' } as const
  await settle(rt, checked, { actor: by, request_id: newId('req', now), now })
}
