import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { sendEvents } from './messages'
import { takeDue } from './record/sweep'

/** Re-sends every event that is due and that nobody is working on: whatever the Queue lost, this finds. */
export async function sweep(rt: Runtime): Promise<void> {
  const due = await takeDue(rt.db, rt.now)
  if (due.length === 0) return
  await sendEvents(rt.events, due, 'sweep')
  writeLog('info', 'sweep', { resent: due.length, d1_rows_read: rt.db.meter.rows_read })
}
