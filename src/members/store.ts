import { eq, inArray } from 'drizzle-orm'
import type { Directory } from '../db/client'
import { valuesOf } from '../db/sql'
import { users } from '../sessions/schema'
import { members } from './schema'

/** A user of a project, or one who did something in it. */
export type Person = { user_id: string; email: string }

/** Reads the members of a project with their addresses. */
export function membersOf(directory: Directory, projectId: string) {
  return directory
    .select({ user_id: members.user_id, email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.user_id))
    .where(eq(members.project_id, projectId))
}

/** Reads the addresses of users. Ids that are not of users are ignored. */
export function addressesOf(directory: Directory, ids: readonly string[]) {
  return directory
    .select({ user_id: users.id, email: users.email })
    .from(users)
    .where(inArray(users.id, valuesOf(ids)))
}
