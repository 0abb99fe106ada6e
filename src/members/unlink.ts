import { and, eq, type SQL, sql } from 'drizzle-orm'
import { sessions } from '../accounts/schema'
import { auditedEach, type Change } from '../audit/store'
import type { Directory } from '../db/client'
import { ssoIdentities } from '../identities/schema'
import { MAX_UNLINKED_NAMED } from './limits'

/**
 * Removes the identities of a user at the connections of a project, with the sessions that they opened, for the batch that makes
 * the user an owner. Whoever sets up a provider could have linked them before, and would be an owner then: so owners are
 * linked only with proof, from then on.
 *
 * @param becomesOwner selects the project's id, or nothing if the user does not become its owner
 */
export function unprovenRemoved(directory: Directory, userId: string, becomesOwner: SQL, change: Change) {
  const own = and(eq(ssoIdentities.user_id, userId), sql`${ssoIdentities.project_id} = (${becomesOwner})`)
  const { id, project_id } = ssoIdentities
  const objects = directory.select({ id, project_id }).from(ssoIdentities).where(own).limit(MAX_UNLINKED_NAMED)
  const entry = { action: 'sso_identity.deleted', object_type: 'sso_identity', project_id: sql`object.project_id` }
  return {
    auditedIdentities: auditedEach(directory, change, entry, { objects, most: MAX_UNLINKED_NAMED }),
    identities: directory.delete(ssoIdentities).where(own),
    endedSessions: directory
      .delete(sessions)
      .where(and(eq(sessions.user_id, userId), sql`${sessions.sso_project_id} = (${becomesOwner})`)),
  }
}
