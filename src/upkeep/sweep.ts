import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { sendEvents } from '../inbox/messages'
import type { Claimed } from '../inbox/process/claim'
import { LEASE_MS } from '../inbox/process/limits'
import { writeVerdicts } from '../inbox/process/settle'
import type { Verdict } from '../inbox/process/verdict'
import { newId } from '../lib/ids'
import { within } from '../lib/within'
import { writeState } from '../stores/state'
import { fail } from '../vendors/event-errors'
import type { Budget } from './budget'
import { GIVE_UP_STATEMENTS, MAX_GIVEN_UP, SEND_WITHIN_MS } from './limits'
import { takeDead, takeDue } from './store'

/**
 * Sends every event again that is due and that no worker holds: this finds whatever the Queue has lost. An event fails
 * once each of its tries has ended with a dead worker.
 */
export async function sweep(rt: Runtime, budget: Budget): Promise<void> {
  const due = await takeDue(rt.db, rt.now)
  if (due.length > 0) await within(SEND_WITHIN_MS, sendEvents(rt.events, due, { via: 'sweep' }))
  const given_up = await giveUp(rt, budget)
  await writeState(rt.db, 'last_sweep_at', rt.now)
  if (due.length + given_up > 0) {
    writeLog('info', 'sweep', { resent: due.length, given_up, d1_rows_read: rt.db.meter.rows_read })
  }
}

async function giveUp({ db, now }: Runtime, { statements }: Budget): Promise<number> {
  const lease = newId('lse', now)
  const most = Math.min(MAX_GIVEN_UP, Math.floor(statements / GIVE_UP_STATEMENTS))
  const dead = await takeDead(db, { lease, leaseUntil: now + LEASE_MS, most }, now)
  if (dead.length > 0)
    await writeVerdicts(
      db,
      dead.map((event) => diedWithWorkers(event, now)),
      lease,
    )
  return dead.length
}

function diedWithWorkers(event: Claimed, now: number): Verdict {
  return {
    event,
    status: 'failed',
    error: fail('worker_died', `worker_died: ${event.tries} workers in a row did not finish it within their lease`),
    due_at: null,
    trigger: 'retry',
    started_at: now,
    summary: null,
    snapshots: [],
    claims: [],
  }
}
