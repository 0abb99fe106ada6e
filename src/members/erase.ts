import { and, eq, gt, inArray, isNull, ne, notExists, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { accountBrowsers, accountEvents, sessions, signInCodes, users } from '../accounts/schema'
import { revokeOfUser } from '../api-keys/revoke'
import { apiKeys } from '../api-keys/schema'
import { auditedEach, type Change } from '../audit/store'
import { batch, type Db, type Directory, run } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { notBound, type Runtime } from '../env'
import { writeLog } from '../http/log'
import { ssoIdentities } from '../identities/schema'
import { rankOf } from '../lib/access'
import { Fault } from '../lib/fault'
import { factorRequired } from '../passkeys/faults'
import { passkeysOf } from '../passkeys/passkey'
import { passkeys, recoveryCodes } from '../passkeys/schema'
import { formerMark } from '../tenancy/people'
import { formerMembers, invitations, members, projects } from '../tenancy/schema'
import { isOnlyBreakGlass } from './break-glass'
import { IDENTITIES_AT_ONCE, MAX_LEFT_AT_ONCE, MAX_PENDING } from './limits'
import { removeMember } from './remove'

/** Projects that a refusal names. */
const NAMED = 10

/**
 * Erases a user: leaves all projects, declines the pending invitations, ends the sessions, and removes the address. The audit
 * logs keep the user's id. Each step can be repeated, and the sessions end with the last one: if a step fails, repeating the
 * call goes on from there.
 *
 * @param revokeKeys whether the API keys that the user minted or was handed end too, as when a member leaves
 * @returns false if the user is a member of more projects than one call leaves: repeat it
 * @throws {Fault} `last_owner`, naming the projects whose only owner the user is; `break_glass_missing`, naming those where
 *   only the user could sign in without the single sign-on that is enforced; `passkey_required` for a user with a passkey
 *   whose session has no second factor: otherwise whoever reads the user's mail could erase the account, passkeys included
 */
export async function eraseUser(
  rt: Runtime,
  user: Erased & { second_factor: boolean },
  revokeKeys: boolean,
  change: Change,
): Promise<boolean> {
  const { directory, stores, at } = rt
  if (!user.second_factor && (await run(directory, passkeysOf(directory, user.user_id))).length > 0)
    throw factorRequired()
  const { owned, marked } = await batch(directory, {
    owned: soleOwned(directory, user.user_id, NAMED),
    marked: soleBreakGlass(directory, user.user_id, NAMED),
  })
  if (owned.length > 0) throw onlyOwner(owned)
  if (marked.length > 0) throw onlyBreakGlassOf(marked)
  if (!(await leaveAll(rt, user, revokeKeys, change))) return false
  let declined = MAX_PENDING
  while (declined === MAX_PENDING) declined = await declineSome(directory, user, MAX_PENDING, change)
  for (const store of stores) {
    const inside = at(store)
    if (inside) await forgetMinter(inside.db, user.user_id)
  }
  await rememberIdentities(rt, user.user_id)
  const erased = await forgetUser(directory, user, await formerMark(rt, user.email))
  if (erased) writeLog('info', 'user_erased', { user_id: user.user_id })
  return erased
}

/** @returns whether no membership is left */
async function leaveAll({ directory, at }: Runtime, { user_id }: Erased, revokeKeys: boolean, change: Change) {
  const rows = await run(directory, membershipsOf(directory, user_id, MAX_LEFT_AT_ONCE + 1))
  const authority = { user_id, users: [user_id], rank: rankOf('owner'), key: false }
  for (const { project_id, store } of rows.slice(0, MAX_LEFT_AT_ONCE)) {
    if (revokeKeys) {
      const home = at(store)
      if (!home) throw notBound(store)
      await revokeOfUser(home.db, { project_id, user_id }, change)
    }
    await removeMember(directory, { project_id, user_id, authority }, change)
  }
  return rows.length <= MAX_LEFT_AT_ONCE
}

type Named = { id: string; name: string }
const namesOf = (projects: readonly Named[]) => projects.map(({ id, name }) => `“${name}” (${id})`).join(', ')

function onlyBreakGlassOf(marked: readonly Named[]): Fault {
  return new Fault(
    'break_glass_missing',
    `You are the only owner with break-glass access to ${namesOf(marked)}. Give it to another owner, or stop enforcing single sign-on, and try again.`,
  )
}

function onlyOwner(owned: readonly Named[]): Fault {
  return new Fault(
    'last_owner',
    `You are the only owner of ${namesOf(owned)}. Make another member an owner, or delete the project, and try again.`,
  )
}

/** The user who is erased. */
export type Erased = { user_id: string; email: string }

const other = alias(members, 'other')

/** Reads projects whose only owner is the user, except deleted ones. */
export function soleOwned(directory: Directory, userId: string, most: number) {
  const others = directory
    .select({ one: sql`1` })
    .from(other)
    .where(and(eq(other.project_id, members.project_id), eq(other.role, 'owner'), ne(other.user_id, userId)))
  return directory
    .select({ id: projects.id, name: projects.name })
    .from(members)
    .innerJoin(projects, eq(projects.id, members.project_id))
    .where(and(eq(members.user_id, userId), eq(members.role, 'owner'), isNull(projects.deleted_at), notExists(others)))
    .limit(most)
}

/** Reads projects that enforce single sign-on and where only the user has break-glass access, except deleted ones. */
export function soleBreakGlass(directory: Directory, userId: string, most: number) {
  return directory
    .select({ id: projects.id, name: projects.name })
    .from(members)
    .innerJoin(projects, eq(projects.id, members.project_id))
    .where(and(eq(members.user_id, userId), isNull(projects.deleted_at), isOnlyBreakGlass(directory, userId)))
    .limit(most)
}

/** Reads some projects that the user is a member of, deleted ones too, with their stores. */
export function membershipsOf(directory: Directory, userId: string, most: number) {
  return directory
    .select({ project_id: members.project_id, store: projects.store })
    .from(members)
    .innerJoin(projects, eq(projects.id, members.project_id))
    .where(eq(members.user_id, userId))
    .limit(most)
}

/** Declines some of the pending invitations to the user's address, of deleted projects too. @returns how many */
export async function declineSome(directory: Directory, { user_id, email }: Erased, most: number, change: Change) {
  const pending = directory
    .select({ id: invitations.id, project_id: invitations.project_id })
    .from(invitations)
    .where(and(eq(invitations.email, email), eq(invitations.state, 'pending')))
    .orderBy(invitations.project_id, invitations.id)
    .limit(most)
  const entry = { action: 'invitation.declined', object_type: 'invitation' }
  const { declined } = await batch(directory, {
    audited: auditedEach(
      directory,
      change,
      { ...entry, project_id: sql`object.project_id` },
      { objects: pending, most },
    ),
    declined: directory
      .update(invitations)
      .set({ state: 'declined', closed_by: user_id })
      .where(sql`(${invitations.id}, ${invitations.project_id}) IN ${pending}`)
      .returning({ id: invitations.id }),
  })
  return declined.length
}

/** Removes the user's address from the API keys of a store. */
export async function forgetMinter(db: Db, userId: string): Promise<void> {
  const known = and(eq(apiKeys.created_by, userId), sql`${apiKeys.minter_email} IS NOT NULL`)
  await run(db, db.update(apiKeys).set({ minter_email: null }).where(known))
}

/**
 * Remembers by which identities of single sign-on the projects that the user has left knew the user: after the erasure, the
 * providers of these projects must not bring them back. Again: nothing.
 */
async function rememberIdentities(rt: Runtime, userId: string): Promise<void> {
  const { directory } = rt
  const theirs = directory
    .select({ project_id: formerMembers.project_id })
    .from(formerMembers)
    .where(eq(formerMembers.user_id, userId))
  const page = (after: string) =>
    directory
      .select()
      .from(ssoIdentities)
      .where(
        and(eq(ssoIdentities.user_id, userId), inArray(ssoIdentities.project_id, theirs), gt(ssoIdentities.id, after)),
      )
      .orderBy(ssoIdentities.id)
      .limit(IDENTITIES_AT_ONCE)
  let found = await run(directory, page(''))
  while (found.length > 0) {
    const marks = await Promise.all(found.map(async (one) => [one.project_id, await formerMark(rt, one)]))
    const each = sql`FROM json_each(${JSON.stringify(marks)}) j WHERE true ON CONFLICT DO NOTHING`
    const row = { project_id: sql`j.value ->> 0`, user_id: sql`j.value ->> 1` }
    await run(directory, insertFrom(directory, formerMembers, row, each))
    found = found.length < IDENTITIES_AT_ONCE ? [] : await run(directory, page(found.at(-1)?.id ?? ''))
  }
}

/**
 * Removes the user's address from the directory, with the sessions, sign-in codes, passkeys, recovery codes,
 * identities of single sign-on, the log of the account and known browsers, if the user is no member of any
 * project. The user's row keeps its id, which is also in place of the address: so the address can sign up again.
 *
 * @param mark takes the place of the id in former memberships
 * @returns whether the user is erased
 */
export async function forgetUser(directory: Directory, { user_id, email }: Erased, mark: string): Promise<boolean> {
  const free = notExists(directory.select({ one: sql`1` }).from(members).where(eq(members.user_id, user_id)))
  const erased: SQL = sql`EXISTS (SELECT 1 FROM ${users} WHERE ${users.id} = ${user_id} AND ${users.email} = ${user_id})`
  const { user } = await batch(directory, {
    user: directory
      .update(users)
      .set({ email: user_id })
      .where(and(eq(users.id, user_id), free))
      .returning({ id: users.id }),
    invited: directory
      .update(invitations)
      .set({ email: user_id, send_error: null }) // The reason may name the address.
      .where(and(eq(invitations.email, email), erased)),
    codes: directory.delete(signInCodes).where(and(eq(signInCodes.email, email), erased)),
    events: directory.delete(accountEvents).where(and(eq(accountEvents.user_id, user_id), erased)),
    browsers: directory.delete(accountBrowsers).where(and(eq(accountBrowsers.user_id, user_id), erased)),
    passkeys: directory.delete(passkeys).where(and(eq(passkeys.user_id, user_id), erased)),
    recoveryCodes: directory.delete(recoveryCodes).where(and(eq(recoveryCodes.user_id, user_id), erased)),
    identities: directory.delete(ssoIdentities).where(and(eq(ssoIdentities.user_id, user_id), erased)),
    remembered: insertFrom(
      directory,
      formerMembers,
      { project_id: formerMembers.project_id, user_id: sql`${mark}` },
      sql`FROM ${formerMembers} WHERE ${and(eq(formerMembers.user_id, user_id), erased)} ON CONFLICT DO NOTHING`,
    ),
    former: directory.delete(formerMembers).where(and(eq(formerMembers.user_id, user_id), erased)),
    sessions: directory.delete(sessions).where(and(eq(sessions.user_id, user_id), erased)),
  })
  return user.length > 0
}
