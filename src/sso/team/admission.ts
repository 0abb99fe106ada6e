import * as z from 'zod'
import { domainOf } from '../../domains/names'
import type { ConnectionSettings } from '../../identities/values'
import { SignInRefused } from '../login/refused'
import type { Identified } from '../oidc/oidc-client'
import type { Facts } from './admission-store'

/** Somebody without an address that a user cannot have: emails are sent to it. */
export function withUsableEmail(identified: Identified): Identified {
  return { ...identified, email: z.email().max(254).safeParse(identified.email).data ?? null }
}

/**
 * Whether somebody may sign in with a connection of the team. An identity that is linked stays so, whatever the provider says
 * of its address later.
 *
 * @returns the role that they get as a new member; null for a member, and for somebody who is invited
 * @throws {SignInRefused}
 */
export function admit(
  { default_role }: ConnectionSettings,
  identified: Identified,
  { active, holds, owned, unproven, linked, member, former, invited }: Facts,
): ConnectionSettings['default_role'] {
  if (!active) throw new SignInRefused('connection_inactive', 'The connection is not active.')
  if (!holds) throw new SignInRefused('domain_unverified', 'The connection has no verified domain.')
  const doubt = linked ? null : doubtAbout(identified, owned)
  if (doubt) throw doubt
  if (unproven)
    throw new SignInRefused('owner_unproven', 'An owner must have signed in with a code or a passkey first.')
  if (member) return null
  // Somebody who has left or was removed: an admin decides whether they come back.
  if (!linked && !former && default_role !== null) return default_role
  if (invited) return null
  throw new SignInRefused('not_invited', 'They are not a member of this project, and must be invited.')
}

/** Why the address of somebody new does not say who they are; null if it does. @param owned whether the connection vouches for its domain */
export function doubtAbout(
  { email, email_verified }: Pick<Identified, 'email' | 'email_verified'>,
  owned: boolean,
): SignInRefused | null {
  if (email === null) return new SignInRefused('email_missing', 'The provider did not send an email address.')
  if (!email_verified)
    return new SignInRefused('email_unverified', `The provider does not say that ${email} is verified.`)
  if (owned) return null
  return new SignInRefused(
    'domain_not_owned',
    `${domainOf(email) ?? email} is not a verified domain of this connection.`,
  )
}
