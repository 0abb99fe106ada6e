import { and, eq, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import { auditedFrom, type Change } from '../audit/store'
import { batch, type Directory } from '../db/client'
import { keptWith } from '../idempotency/claim'
import { notFound } from '../lib/fault'
import { DAY } from '../lib/time'
import { selectRole } from '../tenancy/people'
import { invitations } from '../tenancy/schema'
import { type Authority, hasAuthority, requireManager, requireRank } from './authority'
import { mailCounts, mailTooSoon, mayMail, requireMails, requireRoom, selectCounts } from './invitation-limits'
import {
  findInvitation,
  type Invitation,
  invitationEntry,
  invitationState,
  invitationsOfProject,
  notPending,
} from './invitations'
import { refusedWithoutReason } from './invite'
import { MAIL_EVERY, MAILS_WITHIN, MAX_PENDING } from './limits'

/** An invitation of a project, and with whose authority it is changed. */
type InvitationChange = { project_id: string; id: string; authority: Authority }

/**
 * Extends a pending invitation to its full time again, for another email. This also works if it has expired.
 *
 * @throws {Fault} `not_found`, `invitation_not_pending`, `invitation_limit_reached`, `rate_limited`, and what
 *   {@link requireManager} and {@link requireRank} throw
 */
export async function renewInvitation(
  directory: Directory,
  { project_id, id, authority }: InvitationChange,
  change: Change,
): Promise<Invitation> {
  const { now } = change
  const email = sql`(SELECT ${invitations.email} FROM ${invitations} WHERE ${invitationsOfProject(project_id, id)})`
  const counts = mailCounts(directory, { project_id, user_id: authority.user_id }, email, now)
  const last = sql`(${invitations.recent_sends} ->> '$[#-1]')`
  const condition = and(
    invitationsOfProject(project_id, id),
    eq(invitations.state, 'pending'),
    hasAuthority(directory, project_id, authority, [invitations.role]),
    // After an email that failed, the next one can be sent at once. After one that is on its way, it cannot.
    or(isNotNull(invitations.send_error), sql`${last} <= ${now - MAIL_EVERY}`),
    mayMail(counts),
    or(sql`${invitations.expires_at} > ${now}`, sql`${counts.pending} < ${MAX_PENDING}`),
  )
  const recent = sql`(SELECT json_group_array(value) FROM (
    SELECT value FROM json_each(${invitations.recent_sends}) WHERE value > ${now - MAILS_WITHIN} UNION ALL SELECT ${now}))`
  const { by, before, counted, after } = await batch(directory, {
    by: selectRole(directory, project_id, authority.users),
    before: findInvitation(directory, project_id, id),
    counted: selectCounts(directory, counts),
    audit: auditedInvitation(directory, change, invitationEntry('invitation.resent', id), condition),
    renewed: directory
      .update(invitations)
      .set({
        expires_at: sql`${now} + ${invitations.open_days} * ${DAY}`,
        send_error: null,
        sends: sql`${invitations.sends} + 1`,
        recent_sends: recent,
        authorized_by: authority.user_id,
      })
      .where(condition),
    ...keptWith(directory, change, id),
    after: findInvitation(directory, project_id, id),
  })
  const [invitation] = before
  const manager = by[0]?.role ?? null
  requireManager(authority, manager)
  if (!invitation) throw notFound('Invitation')
  if (invitation.state !== 'pending') throw notPending(invitation.state)
  requireRank(authority, manager, [invitation.role])
  const [had] = counted
  if (after[0] && after[0].sends > invitation.sends) return after[0]
  if (had && invitationState(invitation, now) === 'expired') requireRoom(had)
  if (had) requireMails(had)
  if (invitation.send_error === null) throw mailTooSoon()
  return refusedWithoutReason()
}

/**
 * Revokes an invitation. One that was declined or revoked before stays as it is.
 *
 * @throws {Fault} `not_found`, `invitation_not_pending` for one that was accepted, and what {@link requireManager} throws
 */
export async function revokeInvitation(
  directory: Directory,
  { project_id, id, authority }: InvitationChange,
  change: Change,
): Promise<void> {
  const condition = and(
    invitationsOfProject(project_id, id),
    eq(invitations.state, 'pending'),
    hasAuthority(directory, project_id, authority),
  )
  const { by, before } = await batch(directory, {
    by: selectRole(directory, project_id, authority.users),
    before: findInvitation(directory, project_id, id),
    audit: auditedInvitation(directory, change, invitationEntry('invitation.revoked', id), condition),
    revoked: directory.update(invitations).set({ state: 'revoked', closed_by: change.actor.id }).where(condition),
  })
  requireManager(authority, by[0]?.role ?? null)
  if (!before[0]) throw notFound('Invitation')
  if (before[0].state === 'accepted') throw notPending('accepted')
}

/** The audit row of a change of an invitation, which comes before the change and has its condition. */
export function auditedInvitation(
  directory: Directory,
  change: Change,
  about: { action: string; object_type: string; object_id: string },
  condition: SQL | undefined,
) {
  const { project_id, role } = invitations
  const details = sql`json_object('role', ${role})`
  const from = sql`FROM ${invitations} WHERE ${condition}`
  return auditedFrom(directory, change, about, { taken: { project_id, details }, from })
}
