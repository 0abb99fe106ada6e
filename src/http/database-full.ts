import type { Runtime } from '../env'
import { MINUTE, SECOND } from '../lib/time'
import { writeLog } from './log'

/** For how long a refused write counts as "the database is full" (ms). */
export const FULL_FOR_MS = 5 * MINUTE
/** An isolate notes it at most this often (ms): KV takes one write a second for a key. */
const NOTED_EVERY_MS = MINUTE

/** When this isolate last noted this about each store (ms). */
const notedAt = new Map<number, number>()
const keyOf = (store: number) => `database_full:${store}`

/** Notes that the store's database refused a write because it is full. KV holds the note, because the database cannot. */
export function noteFull(rt: Runtime): void {
  const { store } = rt
  if (Math.abs(rt.now - (notedAt.get(store) ?? 0)) < NOTED_EVERY_MS) return
  notedAt.set(store, rt.now)
  const noted = rt.kv.put(keyOf(store), String(rt.now), { expirationTtl: FULL_FOR_MS / SECOND })
  rt.waitUntil(
    noted.catch((error) => {
      notedAt.delete(store) // The next refusal tries again.
      writeLog('error', 'database_full_not_noted', { error: String(error) })
    }),
  )
}

/** Whether the store's database has refused a write lately because it is full. False if KV does not answer. */
export async function isFull(rt: Runtime): Promise<boolean> {
  try {
    const at = await rt.kv.get(keyOf(rt.store))
    return at !== null && rt.now - Number(at) < FULL_FOR_MS
  } catch (error) {
    writeLog('warn', 'database_full_unknown', { error: String(error) })
    return false
  }
}
