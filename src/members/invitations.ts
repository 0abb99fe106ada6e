import { and, desc, eq, lt, lte, type SQL, sql } from 'drizzle-orm'
import { type Directory, run } from '../db/client'
import { Fault } from '../lib/fault'
import { isOpenIn } from '../tenancy/invited'
import { type INVITATION_STATES, invitations } from '../tenancy/schema'

export type Invitation = typeof invitations.$inferSelect
/** A state as shown: a pending invitation whose time is over has expired. */
export type InvitationState = (typeof INVITATION_STATES)[number] | 'expired'

/** The state of an invitation at a time (ms). */
export function invitationState(
  { state, expires_at }: Pick<Invitation, 'state' | 'expires_at'>,
  now: number,
): InvitationState {
  return state === 'pending' && expires_at <= now ? 'expired' : state
}

/** Reads an invitation of a project. */
export function findInvitation(directory: Directory, projectId: string, id: string) {
  return directory.select().from(invitations).where(invitationsOfProject(projectId, id))
}

/** A page of invitations. `before`: the last one of the previous page. */
type InvitationsAsked = { state?: InvitationState | undefined; before: string | null; limit: number }

/** Reads invitations of a project, newest first. */
export function listInvitations(
  directory: Directory,
  projectId: string,
  { state, before, limit }: InvitationsAsked,
  now: number,
) {
  // A plus keeps the primary key out: in its order, it reads every invitation that the project ever sent.
  const id = state === 'pending' ? sql`+${invitations.id}` : sql`${invitations.id}`
  return directory
    .select()
    .from(invitations)
    .where(and(inState(projectId, state, now), before === null ? undefined : lt(id, before)))
    .orderBy(desc(id))
    .limit(limit)
}

function inState(projectId: string, state: InvitationState | undefined, now: number): SQL | undefined {
  if (state === 'pending') return isOpenIn(projectId, now)
  const inProject = eq(invitations.project_id, projectId)
  if (state === undefined) return inProject
  if (state !== 'expired') return and(inProject, eq(invitations.state, state))
  return and(inProject, sql`${invitations.state} = 'pending'`, lte(sql`+${invitations.expires_at}`, now))
}

/**
 * Records the outcome of an email. `error`: why it was not sent; null if it was.
 *
 * @param mail.number the number of this email among the invitation's emails: each has an outcome of its own
 */
export async function noteMail(
  directory: Directory,
  { project_id, id, number }: { project_id: string; id: string; number: number },
  error: string | null,
  now: number,
): Promise<void> {
  const outcome = error === null ? { sent_at: now, send_error: null } : { send_error: error }
  const same = and(invitationsOfProject(project_id, id), eq(invitations.sends, number))
  await run(directory, directory.update(invitations).set(outcome).where(same))
}

export function invitationsOfProject(projectId: string, id: string) {
  return and(eq(invitations.project_id, projectId), eq(invitations.id, id))
}

/** An audit entry about an invitation. */
export function invitationEntry(action: string, object_id: string) {
  return { action, object_type: 'invitation', object_id }
}

/** @param state why it is not pending */
export function notPending(state: string): Fault {
  return new Fault('invitation_not_pending', `The invitation is ${state}. This works only with a pending invitation.`)
}
