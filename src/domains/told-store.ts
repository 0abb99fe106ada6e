import { and, eq, inArray, not } from 'drizzle-orm'
import { users } from '../accounts/schema'
import type { Directory } from '../db/client'
import { isDeleted } from '../tenancy/ended'
import { members } from '../tenancy/schema'
import { MAX_TOLD } from './limits'

/** Reads the email addresses of a project's owners and admins: nobody's, if the project was deleted. */
export function readManagers(directory: Directory, projectId: string) {
  return directory
    .select({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.user_id))
    .where(and(eq(members.project_id, projectId), inArray(members.role, ['owner', 'admin']), not(isDeleted(projectId))))
    .limit(MAX_TOLD)
}
