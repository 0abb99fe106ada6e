import { run } from '../db/client'
import type { Runtime } from '../env'
import { sealedIn } from '../health/sealed'
import { writeLog } from '../http/log'
import { requireSealingKey } from '../inbox/connections/sealing'
import { sealingKey } from '../lib/seal'
import type { SealedColumn, SealedRow } from '../stores/sealed'
import { readState, writeState } from '../stores/state'
import { type Budget, hasRoom } from './budget'
import { RESEALED_AT_ONCE } from './limits'

/**
 * Reseals secrets under the newest encryption key, a few rows a minute. Once no more can be resealed, that key's
 * number is noted, and nothing is read until there is a newer key or an hour has passed. A secret that no key opens is
 * logged and left as it is: health counts it.
 *
 * @throws {Fault} `encryption_key_unavailable` if the newest key is not the one that has sealed secrets under its number
 */
export async function reseal(rt: Runtime, budget: Budget): Promise<void> {
  const newest = sealingKey(rt.settings.encryptionKeys)
  const [sealedUnder] = await run(rt.db, readState(rt.db, 'sealed_under'))
  if (sealedUnder?.value === newest) return
  await requireSealingKey(rt)
  const sum: Sum = { done: 0, failed: 0 }
  let complete = true
  for (const column of sealedIn(rt.store)) {
    complete = (await resealColumn(rt, column, { newest, budget, sum })) && complete
  }
  if (complete && sum.done === 0) {
    await writeState(rt.db, 'not_resealed', sum.failed)
    await writeState(rt.db, 'sealed_under', newest)
  }
  if (sum.done + sum.failed > 0) writeLog('info', 'resealed', { rows: sum.done, failed: sum.failed })
}

/** Rows that this run has resealed, and those that no key opens. */
type Sum = { done: number; failed: number }

/** @returns whether all rows of the column were looked at */
async function resealColumn(
  rt: Runtime,
  { name, walk }: SealedColumn,
  { newest, budget, sum }: { newest: number; budget: Budget; sum: Sum },
): Promise<boolean> {
  const next = walk(rt, newest)
  while (sum.done < RESEALED_AT_ONCE && hasRoom(rt.db, budget)) {
    const rows = await next(RESEALED_AT_ONCE)
    for (const row of rows) {
      if (!hasRoom(rt.db, budget)) return false
      if (await resealOne(name, row)) sum.done += 1
      else sum.failed += 1
    }
    if (rows.length < RESEALED_AT_ONCE) return true
  }
  return false
}

/** @returns whether every secret of the row could be opened and resealed */
async function resealOne(column: string, { id, reseal }: SealedRow): Promise<boolean> {
  try {
    await reseal()
    return true
  } catch (error) {
    writeLog('error', 'secret_not_resealed', { column, id, error: String(error) })
    return false
  }
}
