import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import type { Directory } from '../db/client'
import { valuesOf } from '../db/sql'
import { ssoIdentities } from './schema'

/** A deletion of the identities of consumers, after an erasure. */
export function identitiesGone(directory: Directory, projectId: string, consumerIds: readonly string[]) {
  const { project_id, consumer_id } = ssoIdentities
  const isTheirs = inArray(consumer_id, valuesOf(consumerIds))
  // IS NOT NULL as the partial index has it.
  return directory.delete(ssoIdentities).where(and(eq(project_id, projectId), isNotNull(consumer_id), isTheirs))
}
