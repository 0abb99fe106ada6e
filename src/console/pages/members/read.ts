import { holdersOf, type KeyRow, listKeys } from '../../../api-keys/key'
import { MAX_LIVE_KEYS } from '../../../api-keys/limits'
import { batch, run } from '../../../db/client'
import { projectOf } from '../../../http/auth'
import { type Page, paging } from '../../../http/page'
import { ifAnswered } from '../../../http/read'
import { type Invitation, type InvitationState, listInvitations } from '../../../members/invitations'
import { MAX_PENDING } from '../../../members/limits'
import { findMember, listMembers, type Member, memberKey } from '../../../members/read'
import { otherOwners } from '../../../members/remove'
import { type People, readAddresses } from '../../../tenancy/people'
import { pageAsked, readList } from '../../list'
import type { Visit } from '../../page'
import type { Sent } from '../../refusal'
import { userOf } from '../../session'

/** A form of the page: the user or the invitation that it is about, or null for the form that invites. */
export type SentAbout = Sent & { at: string | null }

/** Rows on a page: of people, and of the list of all invitations. Addresses can be long. */
const LISTED = 15
const ALL_LISTED = 20
/** Invitations beside the members: the newest open ones, and the newest that have expired. */
const OPEN = 8
const EXPIRED = 2

/** What the rows of members and invitations name. */
export type AroundMembers = {
  /** Addresses of users by their ids. */
  people: People
  /** The live API keys of the project; null if its store does not answer. */
  keys: readonly KeyRow[] | null
}
export type Team = AroundMembers & {
  members: Page<Member>
  invitations: Invitation[]
  /** Whether there are more invitations than these. */
  more: boolean
  /** Whether the signed-in user is the only owner. */
  onlyOwner: boolean
}

/**
 * Reads a page of members, the newest invitations and the API keys: from the directory and the project's store, side by
 * side. If an invitation was sent by a user who is not on the page, their address takes another read.
 */
export async function readTeam(c: Visit): Promise<Team> {
  const { directory, now } = c.get('rt')
  const { user_id, role, email } = userOf(c)
  const project = projectOf(c.get('actor'))
  const list = paging('console/members', pageAsked(c, LISTED), memberKey)
  const some = (state: InvitationState, limit: number) =>
    listInvitations(directory, project, { state, before: null, limit: limit + 1 }, now)
  const [{ rows, owners, open, expired }, keys] = await Promise.all([
    batch(directory, {
      rows: listMembers(directory, project, { before: list.before, limit: list.take }),
      owners: otherOwners(directory, project, user_id),
      open: some('pending', OPEN),
      expired: some('expired', EXPIRED),
    }),
    readKeysBeside(c),
  ])
  const members = list.page(rows, (row) => row)
  const invitations = [...open.slice(0, OPEN), ...expired.slice(0, EXPIRED)]
  const known = new Map([[user_id, email], ...members.data.map((row) => [row.user_id, row.email] as const)])
  const named = [...members.data.map(({ invited_by }) => invited_by ?? ''), ...invitations.map(inviter)]
  return {
    members,
    invitations,
    more: open.length > OPEN || expired.length > EXPIRED,
    onlyOwner: role === 'owner' && owners.length === 0,
    keys,
    people: await withOthers(c, known, named),
  }
}

/** Reads a page of the invitations in a state, or in any. */
export async function readInvitations(c: Visit, state: InvitationState | undefined) {
  const { directory, now } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const read = (before: string | null, limit: number) =>
    run(directory, listInvitations(directory, project, { state, before, limit }, now))
  const [page, keys] = await Promise.all([
    readList(c, `invitations/${state ?? ''}`, read, ALL_LISTED),
    readKeysBeside(c),
  ])
  const { user_id, email } = userOf(c)
  return { page, keys, people: await withOthers(c, new Map([[user_id, email]]), page.data.map(inviter)) }
}

/** A member, and what follows from taking away their role. */
export type Affected = {
  /** Undefined if there is no such member. */
  member: Member | undefined
  /** The API keys that they created and that work. */
  minted: KeyRow[]
  /** The API keys of others whose current secret they know, because they rotated them. */
  held: KeyRow[]
  /** The pending invitations that count as theirs. */
  offers: Invitation[]
  /** Whether the project has no owner besides them. */
  alone: boolean
}

/** Reads a member, and what follows from taking away their role. */
export async function readAffected(c: Visit, userId: string): Promise<Affected> {
  const { directory, now } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const asked = { state: 'pending', before: null, limit: MAX_PENDING } as const
  const [{ found, pending, owners }, keys] = await Promise.all([
    batch(directory, {
      found: findMember(directory, project, userId),
      pending: listInvitations(directory, project, asked, now),
      owners: otherOwners(directory, project, userId),
    }),
    run(c.get('rt').db, liveKeys(c)), // what follows must not look like less than it is
  ])
  const working = keys.filter((row) => works(row, now))
  return {
    member: found[0],
    minted: working.filter((row) => row.created_by === userId),
    held: working.filter((row) => row.created_by !== userId && holdersOf(row, now).includes(userId)),
    offers: pending.filter((row) => row.authorized_by === userId),
    alone: owners.length === 0,
  }
}

/** Whether a key that was not revoked has not expired either. */
export const works = ({ expires_at }: KeyRow, now: number) => expires_at === null || expires_at > now

function liveKeys(c: Visit) {
  return listKeys(c.get('rt').db, {
    project_id: projectOf(c.get('actor')),
    before: null,
    limit: MAX_LIVE_KEYS,
    now: c.get('rt').now,
  })
}

/** For lists, which can do without. */
function readKeysBeside(c: Visit): Promise<KeyRow[] | null> {
  return ifAnswered(c.get('rt').db, liveKeys(c))
}

const inviter = ({ invited_by_id }: Invitation) => invited_by_id

async function withOthers(c: Visit, known: People, ids: readonly string[]): Promise<People> {
  const others = await readAddresses(
    c.get('rt'),
    ids.filter((id) => !known.has(id)),
  )
  return new Map([...known, ...others])
}
