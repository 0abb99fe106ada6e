import { and, eq, gt, not, type SQL, sql } from 'drizzle-orm'
import type { Directory } from '../db/client'
import { isDeleted } from './project'
import { invitations } from './schema'

/**
 * An invitation that can be accepted now. `state` is a literal, so that the index of pending ones can be used. The plus keeps
 * the index by expiry out, which has closed ones too.
 */
export function isOpenInvitation(now: number): SQL {
  return sql`${invitations.state} = 'pending' AND ${gt(sql`+${invitations.expires_at}`, now)}`
}

/**
 * An invitation of a project that can be accepted now. The index of pending ones has the address as its second column: a
 * condition of that makes SQLite choose it.
 */
export function isOpenIn(projectId: string, now: number): SQL | undefined {
  return and(eq(invitations.project_id, projectId), gt(invitations.email, ''), isOpenInvitation(now))
}

/** An invitation to a project that is not deleted. */
export const isToLive = not(isDeleted(invitations.project_id))

/** Whether an address has an invitation that is pending and has not expired. */
export function isInvited(directory: Directory, email: string | SQL, now: number): SQL {
  const open = directory
    .select({ one: sql`1` })
    .from(invitations)
    .where(and(eq(invitations.email, email), isOpenInvitation(now), isToLive))
  return sql`EXISTS ${open}`
}
