import { and, desc, eq, lt, ne, or, type SQL, sql } from 'drizzle-orm'
import { users } from '../accounts/schema'
import { auditedFrom, type Change } from '../audit/store'
import { batch, type Directory } from '../db/client'
import { insertFrom } from '../db/insert-from'
import type { Role } from '../lib/access'
import { Fault, notFound } from '../lib/fault'
import { idTime } from '../lib/ids'
import { isOpenInvitation, isToLive } from '../tenancy/invited'
import { reaches, type Viewer } from '../tenancy/reach'
import { invitations, members, projects } from '../tenancy/schema'
import { type Invitation, invitationEntry, invitationState, notPending } from './invitations'
import { auditedInvitation } from './pending'
import { unprovenRemoved } from './unlink'

/** The user who answers an invitation to their own address, with a session that reaches the project. */
export type Invited = Viewer & { email: string }
/** An invitation as the invited user sees it. */
export type OwnInvitation = Awaited<ReturnType<typeof listOwn>>[number]

/** Reads the open invitations to an address, newest first, starting after the invitation `before`. */
export function listOwn(
  directory: Directory,
  { email, sso }: Invited,
  { before, take }: { before: string | null; take: number },
  now: number,
) {
  const { id } = invitations
  return selectOwn(
    directory,
    and(
      eq(invitations.email, email),
      isOpenInvitation(now),
      isToLive,
      reaches(sso, invitations.project_id),
      before === null ? undefined : lt(id, before),
    ),
  )
    .orderBy(desc(id))
    .limit(take)
}

/** Reads an invitation to an address, in any state. */
export function findOwn(directory: Directory, id: string, invited: Invited) {
  return selectOwn(directory, toAddress(id, invited))
}

function selectOwn(directory: Directory, condition: SQL | undefined) {
  const { id, role, state, expires_at, invited_by_type, invited_by_id } = invitations
  return directory
    .select({
      id,
      role,
      state,
      expires_at,
      invited_by_type,
      invited_by_id,
      invited_by_email: sql<string | null>`nullif(${users.email}, ${users.id})`.as('invited_by_email'),
      project_id: invitations.project_id,
      project_name: projects.name,
    })
    .from(invitations)
    .innerJoin(projects, eq(projects.id, invitations.project_id))
    .leftJoin(users, eq(users.id, invited_by_id))
    .where(condition)
}

/**
 * Accepts an invitation: makes the user a member with its role. Of a user who is a member already, it changes nothing.
 *
 * @returns the invitation as it was before, with the role that the user has then; undefined if there is none to the user's
 *   address
 * @throws {Fault} `sso_session_limited` for an invitation to become an owner, in a session from single sign-on
 */
export async function acceptInvitation(directory: Directory, id: string, invited: Invited, change: Change) {
  const { now } = change
  const { user_id } = invited
  // A provider vouches for the address of such a session. Whoever sets one up must not become owner with it.
  const vouched = invited.sso !== null
  const own = and(eq(members.project_id, invitations.project_id), eq(members.user_id, user_id))
  const isMember = sql`EXISTS ${directory.select({ one: sql`1` }).from(members).where(own)}`
  const may = vouched ? or(ne(invitations.role, 'owner'), isMember) : undefined
  const open = and(toAddress(id, invited), isOpenInvitation(now), may)
  const joining = sql`FROM ${invitations} WHERE ${open} AND NOT ${isMember}`
  const { role, project_id } = invitations
  const { before, after } = await batch(directory, {
    before: find(directory, id, invited),
    audit: auditedFrom(
      directory,
      change,
      { action: 'member.joined', object_type: 'member', object_id: user_id },
      {
        taken: { project_id, details: sql`json_object('role', ${role}, 'invitation', ${id})` },
        from: joining,
      },
    ),
    ...unprovenRemoved(directory, user_id, sql`SELECT ${project_id} ${joining} AND ${eq(role, 'owner')}`, change),
    joined: insertFrom(
      directory,
      members,
      {
        project_id,
        user_id: sql`${user_id}`,
        role,
        created_at: sql`CAST(${now} AS INTEGER)`,
        source: sql`'invitation'`,
        invited_by: sql`CASE ${invitations.invited_by_type} WHEN 'user' THEN ${invitations.invited_by_id} END`,
      },
      joining,
    ),
    accepted: directory.update(invitations).set({ state: 'accepted', closed_by: user_id }).where(open),
    after: find(directory, id, invited),
  })
  const [was] = before
  const joins = was?.own_role === null && invitationState(was, now) === 'pending'
  if (vouched && joins && was.offered === 'owner') throw ownSignInRequired()
  return was && after[0] && { ...was, own_role: after[0].own_role }
}

/** Declines an invitation. @returns it as it was before; undefined if there is none to the user's address */
export async function declineInvitation(directory: Directory, id: string, invited: Invited, change: Change) {
  const open = and(toAddress(id, invited), isOpenInvitation(change.now))
  const { before } = await batch(directory, {
    before: find(directory, id, invited),
    audit: auditedInvitation(directory, change, invitationEntry('invitation.declined', id), open),
    declined: directory.update(invitations).set({ state: 'declined', closed_by: invited.user_id }).where(open),
  })
  return before[0]
}

/** Reads an invitation to the user's address, with the role that the user has in its project. */
function find(directory: Directory, id: string, invited: Invited) {
  return directory
    .select({
      state: invitations.state,
      offered: sql<Role>`${invitations.role}`.as('offered'),
      expires_at: invitations.expires_at,
      project: { id: sql<string>`${projects.id}`.as('project_id'), name: projects.name },
      own_role: members.role,
    })
    .from(invitations)
    .innerJoin(projects, eq(projects.id, invitations.project_id))
    .leftJoin(members, and(eq(members.project_id, invitations.project_id), eq(members.user_id, invited.user_id)))
    .where(toAddress(id, invited))
}

/**
 * The invitation with this id, if it is to this address, and to a project that is not deleted and within the session's reach. The id holds its time, which
 * the index of addresses has too.
 */
function toAddress(id: string, { email, sso }: Invited) {
  const made = idTime(id)
  return and(
    eq(invitations.email, email),
    eq(invitations.created_at, Number.isNaN(made) ? -1 : made),
    eq(invitations.id, id),
    isToLive,
    reaches(sso, invitations.project_id),
  )
}

/**
 * The invitation, if it was open before the answer, or already had the same answer.
 *
 * @throws {Fault} `not_found`, `invitation_not_pending`, `invitation_expired`
 */
export function requireAnswered<T extends Pick<Invitation, 'state' | 'expires_at'>>(
  invitation: T | undefined,
  now: number,
  answer: 'accepted' | 'declined',
): T {
  if (!invitation) throw notFound('Invitation', 'for your address')
  const state = invitationState(invitation, now)
  if (state === 'pending' || state === answer) return invitation
  if (state === 'expired') throw new Fault('invitation_expired', 'The invitation has expired. Ask for a new one.')
  throw notPending(state)
}

/** For an invitation to become an owner, in a session that a provider vouches for. */
export function ownSignInRequired(): Fault {
  return new Fault(
    'sso_session_limited',
    'Sign in with a code or a passkey to become an owner. Single sign-on opened this session, and whoever manages the provider must not be able to create owners.',
  )
}
