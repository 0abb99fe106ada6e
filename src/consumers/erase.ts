import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import { ifAnswered } from '../http/read'
import { identitiesGone } from '../identities/identities'
import { type Erasure, eraseConsumer } from './erase-store'
import type { ConsumerRef } from './ref'

/**
 * Erases a consumer, in its store and then in the directory. If the directory does not answer, the cron deletes what it has:
 * see inbox/upkeep/erasures.ts.
 *
 * @throws {Fault} `not_found`, `consumer_merged`
 */
export async function erase(
  { db, directory }: Runtime,
  of: { project_id: string; ref: ConsumerRef },
  change: Change,
): Promise<Erasure> {
  const { erasure, erased } = await eraseConsumer(db, of, change)
  if (erased.length > 0) await ifAnswered(directory, identitiesGone(directory, of.project_id, erased))
  return erasure
}
