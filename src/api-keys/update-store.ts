import { and, gt, gte, isNull, ne, or } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Db } from '../db/client'
import { requireFound } from '../lib/fault'
import { iso } from '../lib/time'
import { apiKeys } from './schema'
import { entry, findKey, type KeyRow, ofProject } from './store'

/**
 * Changes a live key. The same values again change nothing, and neither does an expiry that is later than the current
 * one, whatever else changes with it.
 *
 * @returns the key as it is then
 * @throws {Fault} `not_found`
 */
export async function updateKey(
  db: Db,
  { project_id, id }: { project_id: string; id: string },
  { name, expires_at }: { name: string | undefined; expires_at: number | undefined },
  change: Change,
): Promise<KeyRow> {
  const endsIf = (compare: typeof gt) =>
    expires_at === undefined ? undefined : or(isNull(apiKeys.expires_at), compare(apiKeys.expires_at, expires_at))
  const differs = or(name === undefined ? undefined : ne(apiKeys.name, name), endsIf(gt))
  const changed = db
    .update(apiKeys)
    .set({ name, expires_at })
    .where(and(ofProject(project_id, id), isNull(apiKeys.revoked_at), endsIf(gte), differs))
  const details = { name, expires_at: expires_at === undefined ? undefined : iso(expires_at) }
  const { rows } = await batch(db, {
    ...audited(db, change, entry(project_id, id, 'api_key.updated', details), changed),
    rows: findKey(db, project_id, id),
  })
  return requireFound(rows, 'API key')
}
