import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { newId } from '../../lib/ids'
import { LEASE_MS } from '../lifecycle'
import { sendEvents } from '../messages'
import type { Verdict } from '../process/finish'
import { settle } from '../process/settle'
import { takeDead, takeDue, writeState } from './store'

/**
 * Re-sends every event that is due and that nobody is working on: whatever the Queue lost, this finds. An event that
 * has killed a worker on every one of its tries fails.
 */
export async function sweep(rt: Runtime): Promise<void> {
  const due = await takeDue(rt.db, rt.now)
  if (due.length > 0) await sendEvents(rt.events, due, { via: 'sweep' })
  const failed = await giveUp(rt)
  await writeState(rt.db, 'last_sweep_at', rt.now)
  if (due.length + failed > 0) {
    writeLog('info', 'sweep', { resent: due.length, given_up: failed, d1_rows_read: rt.db.meter.rows_read })
  }
}

async function giveUp(rt: Runtime): Promise<number> {
  const lease = newId('lse', rt.now)
  const dead = await takeDead(rt.db, lease, rt.now + LEASE_MS, rt.now)
  const verdicts = dead.map(
    (event): Verdict => ({
      event,
      status: 'failed',
      error: `worker_died: ${event.tries} workers in a row did not finish it within their lease`,
      due_at: null,
      trigger: 'retry',
      started_at: rt.now,
      summary: null,
      snapshots: [],
    }),
  )
  if (verdicts.length > 0) await settle(rt.db, verdicts, lease)
  return verdicts.length
}
