import { sql } from 'drizzle-orm'
import { type Database, run } from '../db/client'
import { deleteSome } from '../db/delete-some'
import { KEPT_FOR } from './limits'
import { idempotency } from './schema'

/** Deletes keys that are older than {@link KEPT_FOR}. @returns how many; at most `most` */
export async function purgeKept(db: Database, now: number, most: number): Promise<number> {
  const { project_id, actor, key_hash, at } = idempotency
  const where = sql`${at} < ${now - KEPT_FOR}`
  const gone = await run(db, deleteSome(db, idempotency, { key: [project_id, actor, key_hash], where, most }))
  return gone.length
}
