import { revokeOfUser } from '../api-keys/revoke-store'
import type { Change } from '../audit/store'
import { batch } from '../db/client'
import type { Runtime } from '../env'
import {
  beforeRemoval,
  lastBreakGlass,
  lastOwner,
  type MemberChange,
  onlyBreakGlass,
  otherOwners,
  removeMember,
  requireRemovable,
} from './change-store'

/**
 * Removes a member, or lets a member leave, and first revokes the API keys that the member minted, and those whose secret
 * the member was given. The keys are usually in another database: if the removal fails after that step, repeating the call
 * finishes it.
 *
 * @throws {Fault} as {@link removeMember}, usually before any key is revoked
 */
export async function removeWithKeys({ directory, db }: Runtime, removal: MemberChange, change: Change): Promise<void> {
  const { project_id, user_id } = removal
  const { by, before, owners, marked } = await batch(directory, {
    ...beforeRemoval(directory, removal),
    owners: otherOwners(directory, project_id, user_id),
    marked: onlyBreakGlass(directory, project_id, user_id),
  })
  requireRemovable(removal, by[0]?.role ?? null, before[0])
  if (before[0]?.role === 'owner' && owners.length === 0) throw lastOwner()
  if (marked.length > 0) throw lastBreakGlass()
  await revokeOfUser(db, { project_id, user_id }, change)
  await removeMember(directory, removal, change)
}
