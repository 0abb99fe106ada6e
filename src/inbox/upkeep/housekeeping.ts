import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { DAY } from '../../lib/time'
import { compactMinutes } from './minutes-store'
import { purgePayloads, purgeRecords } from './retention'
import { writeState } from './store'

/** The day's work: deletes payloads and records past their retention, and folds old rollups of minutes into hours. */
export async function housekeeping(rt: Runtime): Promise<void> {
  const { payloadRetentionDays, recordRetentionDays } = rt.settings
  // A payload does not outlive its record.
  const payloads = await purgePayloads(rt.db, rt.now - Math.min(payloadRetentionDays, recordRetentionDays) * DAY)
  const records = await purgeRecords(rt.db, rt.now - recordRetentionDays * DAY)
  const minutes = await compactMinutes(rt.db, rt.now)
  // An isolate of the previous deployment may have sealed a secret under an older key since none was found: look again.
  await writeState(rt.db, 'sealed_under', 0)
  const { trips, rows_read, rows_written } = rt.db.meter
  writeLog('info', 'housekeeping', { payloads, records, minutes, d1_trips: trips, rows_read, rows_written })
}
