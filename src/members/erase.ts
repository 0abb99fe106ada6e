import { revokeOfUser } from '../api-keys/revoke-store'
import type { Change } from '../audit/store'
import { batch, run } from '../db/client'
import { notBound, type Runtime } from '../env'
import { writeLog } from '../http/log'
import { rankOf } from '../lib/access'
import { Fault } from '../lib/fault'
import { factorRequired } from '../passkeys/faults'
import { passkeysOf } from '../passkeys/passkey'
import { removeMember } from './change-store'
import {
  declineSome,
  type Erased,
  forgetMinter,
  forgetUser,
  membershipsOf,
  soleBreakGlass,
  soleOwned,
} from './erase-store'
import { MAX_LEFT_AT_ONCE, MAX_PENDING } from './limits'

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
  if (marked.length > 0) throw onlyBreakGlass(marked)
  if (!(await leaveAll(rt, user, revokeKeys, change))) return false
  while ((await declineSome(directory, user, MAX_PENDING, change)) === MAX_PENDING);
  for (const store of stores) {
    const inside = at(store)
    if (inside) await forgetMinter(inside.db, user.user_id)
  }
  const erased = await forgetUser(directory, user)
  if (erased) writeLog('info', 'user_erased', { user_id: user.user_id })
  return erased
}

/** @returns whether no membership is left */
async function leaveAll({ directory, at }: Runtime, { user_id }: Erased, revokeKeys: boolean, change: Change) {
  const rows = await run(directory, membershipsOf(directory, user_id, MAX_LEFT_AT_ONCE + 1))
  const authority = { user_id, rank: rankOf('owner'), key: false }
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

function onlyBreakGlass(marked: readonly Named[]): Fault {
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
