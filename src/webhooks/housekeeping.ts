import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { DAY } from '../lib/time'
import { seal, sealingKey, unseal } from './connections/seal'
import { findSealedOtherwise, replaceSecrets, type StoredSecret, sealContext } from './connections/store'
import { compactMinutes, purgePayloads, purgeRecords } from './record/retention'
import { readState, writeState } from './record/sweep'

/** What a day is enough for: payloads and records past their retention go, rollups of past minutes become hours. */
export async function housekeeping(rt: Runtime): Promise<void> {
  const { payloadRetentionDays, recordRetentionDays } = rt.settings
  const payloads = await purgePayloads(rt.db, rt.now - payloadRetentionDays * DAY)
  const records = await purgeRecords(rt.db, rt.now - recordRetentionDays * DAY)
  const minutes = await compactMinutes(rt.db, rt.now)
  const { trips, rows_read, rows_written } = rt.db.meter
  writeLog('info', 'housekeeping', { payloads, records, minutes, d1_trips: trips, rows_read, rows_written })
}

/** Connections re-encrypted in one run of the cron. */
const RESEAL_AT_ONCE = 50

/**
 * Brings secrets under the newest encryption key, a few connections a minute. Once none is left, that key's number is
 * noted and nothing more is read until there is a newer one.
 */
export async function reseal(rt: Runtime): Promise<void> {
  const { encryptionKeys } = rt.settings
  const newest = sealingKey(encryptionKeys)
  if ((await readState(rt.db, 'sealed_under')) === newest) return
  const rows = await findSealedOtherwise(rt.db, newest, RESEAL_AT_ONCE)
  let failed = 0
  for (const { id, project_id, version, secrets } of rows) {
    try {
      const renewed: StoredSecret[] = []
      for (const secret of secrets) {
        const context = sealContext(project_id, id, secret.id)
        const box = await seal(encryptionKeys, await unseal(encryptionKeys, secret, context), context)
        renewed.push({ ...secret, ...box })
      }
      await replaceSecrets(rt.db, id, version, renewed)
    } catch (error) {
      failed += 1
      writeLog('error', 'secret_not_resealed', { connection_id: id, error: String(error) })
    }
  }
  if (rows.length === 0) await writeState(rt.db, 'sealed_under', newest)
  else writeLog('info', 'resealed', { connections: rows.length - failed, failed })
}
