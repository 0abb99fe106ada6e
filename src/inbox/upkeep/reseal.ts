import { run } from '../../db/client'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { seal, sealContext, sealingKey, unseal } from '../../lib/seal'
import { requireSealingKey } from '../connections/readable'
import type { StoredSecret } from '../connections/schema'
import { findSealedOtherwise, replaceSecrets } from '../connections/secrets-store'
import type { Connection } from '../connections/store'
import { type Budget, hasRoom } from './budget'
import { RESEAL_CONNECTIONS } from './limits'
import { readState, writeState } from './store'

/**
 * Reseals secrets under the newest encryption key, a few connections a minute. Once no more can be resealed, that key's
 * number is noted, and nothing is read until there is a newer key or a day has passed. A secret that no key opens is
 * logged and left as it is: health counts it.
 *
 * @throws {Fault} `encryption_key_unavailable` if the newest key is not the one that has sealed secrets under its number
 */
export async function reseal(rt: Runtime, budget: Budget): Promise<void> {
  const newest = sealingKey(rt.settings.encryptionKeys)
  const [sealedUnder] = await run(rt.db, readState(rt.db, 'sealed_under'))
  if (sealedUnder?.value === newest) return
  await requireSealingKey(rt)
  let [done, failed, after] = [0, 0, '']
  while (done < RESEAL_CONNECTIONS && hasRoom(rt.db, budget)) {
    const rows = await run(rt.db, findSealedOtherwise(rt.db, newest, after, RESEAL_CONNECTIONS))
    for (const row of rows) {
      if (!hasRoom(rt.db, budget)) break
      if (await resealOne(rt, row)) done += 1
      else failed += 1
    }
    after = rows.at(-1)?.id ?? after
    if (rows.length < RESEAL_CONNECTIONS) {
      if (done === 0) await writeState(rt.db, 'sealed_under', newest)
      break
    }
  }
  if (done + failed > 0) writeLog('info', 'resealed', { connections: done, failed })
}

/** @returns whether every secret of the connection could be opened and resealed */
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
