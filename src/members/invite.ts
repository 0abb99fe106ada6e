import { and, eq, lte, sql } from 'drizzle-orm'
import { users } from '../accounts/schema'
import { audited, type Change } from '../audit/store'
import { batch, type Directory } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { keptWith } from '../idempotency/claim'
import type { Role } from '../lib/access'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'
import { DAY } from '../lib/time'
import { isOpenInvitation } from '../tenancy/invited'
import { selectRole } from '../tenancy/people'
import { invitations, members } from '../tenancy/schema'
import { type Authority, hasAuthority, requireManager, requireRank } from './authority'
import { mailCounts, mayMail, requireMails, requireRoom, selectCounts } from './invitation-limits'
import { findInvitation, type Invitation, invitationEntry } from './invitations'
import { MAX_PENDING } from './limits'

/** Who is invited, with which role, and for how long (days). */
export type WantedInvitation = { email: string; role: Role; open_days: number }

/**
 * Invites an address. An invitation to it that has expired ends first, unless the new one is refused.
 *
 * @throws {Fault} `already_member`, `already_invited`, `invitation_limit_reached`, `rate_limited`, and what
 *   {@link requireManager} and {@link requireRank} throw
 */
export async function insertInvitation(
  directory: Directory,
  { project_id, authority }: { project_id: string; authority: Authority },
  wanted: WantedInvitation,
  change: Change & { actor: { type: 'user' | 'api_key' } },
): Promise<Invitation> {
  const { now, actor } = change
  const { email, role } = wanted
  const row: Invitation = {
    ...wanted,
    project_id,
    id: newId('inv', now),
    state: 'pending',
    invited_by_type: actor.type,
    invited_by_id: actor.id,
    authorized_by: authority.user_id,
    created_at: now,
    expires_at: now + wanted.open_days * DAY,
    sent_at: null,
    send_error: null,
    sends: 1,
    recent_sends: [now],
    closed_by: null,
  }
  const counts = mailCounts(directory, { project_id, user_id: authority.user_id }, email, now)
  const may = hasAuthority(directory, project_id, authority, [role])
  // Ending the expired invitation changes none of these, so both statements that carry them decide alike.
  const free = sql`NOT EXISTS ${memberWith(directory, project_id, email)} AND NOT EXISTS ${openTo(directory, project_id, email, now)}`
  const room = sql`${counts.pending} < ${MAX_PENDING} AND ${mayMail(counts)}`
  const allowed = sql`${may} AND ${free} AND ${room}`
  const expired = and(
    eq(invitations.project_id, project_id),
    eq(invitations.email, email),
    sql`${invitations.state} = 'pending'`,
    lte(invitations.expires_at, now),
    allowed,
  )
  const { by, member, open, counted, invited } = await batch(directory, {
    by: selectRole(directory, project_id, authority.users),
    member: memberWith(directory, project_id, email),
    open: openTo(directory, project_id, email, now),
    counted: selectCounts(directory, counts),
    closed: directory.update(invitations).set({ state: 'revoked', closed_by: actor.id }).where(expired),
    ...audited(
      directory,
      change,
      { project_id, ...invitationEntry('member.invited', row.id), details: { role } },
      insertWhere(directory, invitations, row, allowed),
    ),
    ...keptWith(directory, change, row.id),
    invited: findInvitation(directory, project_id, row.id),
  })
  const manager = by[0]?.role ?? null
  requireManager(authority, manager)
  requireRank(authority, manager, [role])
  if (member[0])
    throw new Fault('already_member', `${email} is the address of a member of the project: ${member[0].user_id}.`)
  if (open[0]) throw alreadyInvited(open[0].id)
  if (counted[0]) requireRoom(counted[0])
  if (counted[0]) requireMails(counted[0])
  return invited[0] ?? refusedWithoutReason()
}

function memberWith(directory: Directory, projectId: string, email: string) {
  return directory
    .select({ user_id: members.user_id })
    .from(users)
    .innerJoin(members, and(eq(members.project_id, projectId), eq(members.user_id, users.id)))
    .where(eq(users.email, email))
}

function openTo(directory: Directory, projectId: string, email: string, now: number) {
  return directory
    .select({ id: invitations.id })
    .from(invitations)
    .where(and(eq(invitations.project_id, projectId), eq(invitations.email, email), isOpenInvitation(now)))
}

function alreadyInvited(id: string): Fault {
  return new Fault('already_invited', `The invitation ${id} to this address is pending. Resend it, or revoke it first.`)
}

/** What was read and what was written in one transaction cannot differ: this is a bug in the service. */
export function refusedWithoutReason(): never {
  throw new Error('a change was refused, and what was read with it gives no reason')
}
