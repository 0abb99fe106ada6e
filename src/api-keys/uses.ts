import { and, eq, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { batch, type Db, type Queries } from '../db/client'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { BoundedMap } from '../lib/bounded-map'
import { addressHash, takeCounted } from './counts'
import { addToDay } from './days'
import { LAST_USED_EVERY, MAX_RECORDED_USES } from './limits'
import { apiKeys, type LastUse } from './schema'

/**
 * A key that was used. `previous`: the hash of the secret before the current one, if that was used. `last`: null if the key was
 * refused because of where it was used; its `address` is the address itself, which is hashed before it is stored.
 */
export type Use = { id: string; last_used_at: number | null; previous?: string | undefined; last: LastUse | null }

/** When this isolate last recorded a use of each secret (ms). */
const recorded = new BoundedMap<string, number>(MAX_RECORDED_USES)

/**
 * Updates last_used_at at most once a minute for each secret, and with it what this isolate has counted of the key. If the row that
 * was just read is fresh, the isolate's minute begins there. The isolate's map (set before any await) lets one request through, a KV
 * marker keeps other isolates from the row of the key, and the condition of the UPDATE enforces the limit whatever those two say.
 * A failure here never fails the request.
 */
export function recordUse(rt: Runtime, use: Use): void {
  // Apart, so that calls from elsewhere do not keep the use of its owner from being recorded.
  const kind = use.last === null ? 'elsewhere' : use.previous
  const name = kind === undefined ? use.id : `${use.id}:${kind}`
  const isFresh = use.last_used_at !== null && use.last_used_at > rt.now - LAST_USED_EVERY
  const seen = recorded.get(name) ?? (isFresh ? use.last_used_at : null)
  if (seen !== null && seen > rt.now - LAST_USED_EVERY) return void recorded.set(name, seen)
  recorded.set(name, rt.now)
  rt.waitUntil(
    writeUse(rt, { ...use, isFresh }, name).catch((error) => {
      recorded.delete(name) // The next request tries again.
      writeLog('warn', 'last_used_at_not_recorded', { key_id: use.id, error: String(error) })
    }),
  )
}

async function writeUse(rt: Runtime, use: Use & { isFresh: boolean }, name: string): Promise<void> {
  const { id, previous, isFresh } = use
  const { codePepper } = rt.settings
  const last = use.last && { ...use.last, address: await addressHash(codePepper, use.last.address) }
  const touches = last !== null && !isFresh && (await isMine(rt, `last_used:${name}`))
  const days = await takeCounted(codePepper, id)
  const touched = previous === undefined ? touchKey : touchPrevious
  const queries: Queries = {
    ...(touches && { touched: touched(rt.db, { id, previous: previous ?? '', last }, rt.now) }),
    ...Object.fromEntries(days.map((day) => [`day${day.day}`, addToDay(rt.db, id, day, rt.now)])),
  }
  if (Object.keys(queries).length > 0) await batch(rt.db, queries)
}

/** Whether no other isolate has recorded this use within the minute. */
async function isMine(rt: Runtime, marker: string): Promise<boolean> {
  if ((await rt.kv.get(marker)) !== null) return false
  await rt.kv.put(marker, String(rt.now), { expirationTtl: LAST_USED_EVERY / 1000 })
  return true
}

type Touched = { id: string; previous: string; last: LastUse | null }

/** Records a use of the current secret, unless one was recorded in the last minute. The condition holds whatever the caches say. */
export function touchKey(db: Db, { id, last }: Pick<Touched, 'id' | 'last'>, now: number) {
  const stale = or(isNull(apiKeys.last_used_at), lte(apiKeys.last_used_at, now - LAST_USED_EVERY))
  return db.update(apiKeys).set({ last_used_at: now, last_use: last }).where(live(id, stale))
}

/** The same for the secret before it. */
function touchPrevious(db: Db, { id, previous, last }: Touched, now: number) {
  const used = sql`coalesce(${apiKeys.previous} ->> '$.last_used_at', 0)`
  const stale = and(eq(apiKeys.previous_hash, previous), sql`${used} <= ${now - LAST_USED_EVERY}`)
  const set = sql`json_set(${apiKeys.previous}, '$.last_used_at', CAST(${now} AS INTEGER))`
  return db.update(apiKeys).set({ previous: set, last_use: last }).where(live(id, stale))
}

function live(id: string, stale: SQL | undefined): SQL | undefined {
  return and(eq(apiKeys.id, id), isNull(apiKeys.revoked_at), stale)
}
