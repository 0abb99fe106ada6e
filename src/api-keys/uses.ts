import { and, eq, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { type Db, run } from '../db/client'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { BoundedMap } from '../lib/bounded-map'
import { LAST_USED_EVERY, MAX_RECORDED_USES } from './limits'
import { apiKeys } from './schema'

/** A secret that was used. `previous`: the hash of the secret before the current one, if that was used. */
export type Use = { id: string; last_used_at: number | null; previous?: string }

/** When this isolate last recorded a use of each secret (ms). */
const recorded = new BoundedMap<string, number>(MAX_RECORDED_USES)

/**
 * Updates last_used_at at most once a minute for each secret. If the row that was just read is fresh, this costs nothing.
 * Otherwise the isolate's map (set before any await) lets one request through, a KV marker keeps other isolates off D1,
 * and the condition of the UPDATE enforces the limit whatever those two say. A failure here never fails the request.
 */
export function recordUse(rt: Runtime, use: Use): void {
  if (use.last_used_at !== null && use.last_used_at > rt.now - LAST_USED_EVERY) return
  const name = use.previous === undefined ? use.id : `${use.id}:${use.previous}`
  const seen = recorded.get(name)
  if (seen !== undefined && seen > rt.now - LAST_USED_EVERY) return
  recorded.set(name, rt.now)
  rt.waitUntil(
    writeUse(rt, use, name).catch((error) => {
      recorded.delete(name) // The next request tries again.
      writeLog('warn', 'last_used_at_not_recorded', { key_id: use.id, error: String(error) })
    }),
  )
}

async function writeUse(rt: Runtime, { id, previous }: Use, name: string): Promise<void> {
  const marker = `last_used:${name}`
  if ((await rt.kv.get(marker)) !== null) return
  await rt.kv.put(marker, String(rt.now), { expirationTtl: LAST_USED_EVERY / 1000 })
  await (previous === undefined ? touchKey(rt.db, id, rt.now) : touchPrevious(rt.db, { id, previous }, rt.now))
}

/** Records a use of the current secret, unless one was recorded in the last minute. The condition holds whatever the caches say. */
export async function touchKey(db: Db, id: string, now: number): Promise<void> {
  const stale = or(isNull(apiKeys.last_used_at), lte(apiKeys.last_used_at, now - LAST_USED_EVERY))
  await run(db, db.update(apiKeys).set({ last_used_at: now }).where(live(id, stale)))
}

/** The same for the secret before it. */
async function touchPrevious(db: Db, { id, previous }: { id: string; previous: string }, now: number): Promise<void> {
  const used = sql`coalesce(${apiKeys.previous} ->> '$.last_used_at', 0)`
  const stale = and(eq(apiKeys.previous_hash, previous), sql`${used} <= ${now - LAST_USED_EVERY}`)
  const set = sql`json_set(${apiKeys.previous}, '$.last_used_at', CAST(${now} AS INTEGER))`
  await run(db, db.update(apiKeys).set({ previous: set }).where(live(id, stale)))
}

function live(id: string, stale: SQL | undefined): SQL | undefined {
  return and(eq(apiKeys.id, id), isNull(apiKeys.revoked_at), stale)
}
