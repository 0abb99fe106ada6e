import { run } from '../../db/client'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { DAY } from '../../lib/time'
import type { StoredSecret } from '../connections/schema'
import { seal, sealContext, sealingKey, unseal } from '../connections/seal'
import { findSealedOtherwise, replaceSecrets } from '../connections/secrets-store'
import type { Connection } from '../connections/store'
import { compactMinutes, purgePayloads, purgeRecords } from './retention'
import { readState, writeState } from './store'

/** What a day is enough for: payloads and records past their retention go, rollups of past minutes become hours. */
export async function housekeeping(rt: Runtime): Promise<void> {
  const { payloadRetentionDays, recordRetentionDays } = rt.settings
  // A payload does not outlive its record.
  const payloads = await purgePayloads(rt.db, rt.now - Math.min(payloadRetentionDays, recordRetentionDays) * DAY)
  const records = await purgeRecords(rt.db, rt.now - recordRetentionDays * DAY)
  const minutes = await compactMinutes(rt.db, rt.now)
  // An isolate of the deployment before may have sealed under an older key after none was left: look again.
  await writeState(rt.db, SEALED_UNDER, 0)
  const { trips, rows_read, rows_written } = rt.db.meter
  writeLog('info', 'housekeeping', { payloads, records, minutes, d1_trips: trips, rows_read, rows_written })
}

/** The number of the key that every secret was found to be sealed under. */
const SEALED_UNDER = 'sealed_under'
/** Connections read at once, and re-encrypted, about, in one run of the cron. */
const RESEAL_AT_ONCE = 50

/**
 * Brings secrets under the newest encryption key, a few connections a minute. Once none is left that can be, that key's
 * number is noted and nothing more is read until there is a newer one, or a day has passed. A secret that no key opens
 * is logged and left as it is: health counts it.
 */
export async function reseal(rt: Runtime): Promise<void> {
  const newest = sealingKey(rt.settings.encryptionKeys)
  if ((await readState(rt.db, SEALED_UNDER)) === newest) return
  let [done, failed, after] = [0, 0, '']
  while (done < RESEAL_AT_ONCE) {
    const rows = await run(rt.db, findSealedOtherwise(rt.db, newest, after, RESEAL_AT_ONCE))
    for (const row of rows) {
      if (await resealOne(rt, row)) done += 1
      else failed += 1
    }
    after = rows.at(-1)?.id ?? after
    if (rows.length < RESEAL_AT_ONCE) {
      if (done === 0) await writeState(rt.db, SEALED_UNDER, newest)
      break
    }
  }
  if (done + failed > 0) writeLog('info', 'resealed', { connections: done, failed })
}

async function resealOne({ db, settings }: Runtime, { id, project_id, version, secrets }: Connection) {
  const keys = settings.encryptionKeys
  try {
    const renewed: StoredSecret[] = []
    for (const secret of secrets) {
      const context = sealContext(project_id, id, secret.id)
      renewed.push({ ...secret, ...(await seal(keys, await unseal(keys, secret, context), context)) })
    }
    await replaceSecrets(db, { id, version }, renewed)
    return true
  } catch (error) {
    writeLog('error', 'secret_not_resealed', { connection_id: id, error: String(error) })
    return false
  }
}
