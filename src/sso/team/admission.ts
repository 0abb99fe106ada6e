import { domainOf } from '../email-domain'
import { SignInRefused } from '../login/refused'
import type { Identified } from '../oidc/client'
import type { ConnectionSettings } from '../values'
import type { Facts } from './admission-store'

/**
 * Whether somebody may sign in with a connection of the team. An identity that is linked stays so, whatever the provider says
 * of its address later.
 *
 * @returns the role that they get as a new member; null for a member, and for somebody who is invited
 * @throws {SignInRefused}
 */
export function admit(
  { default_role }: ConnectionSettings,
  { email, email_verified }: Identified,
  { active, holds, owned, unproven, linked, member, invited }: Facts,
): ConnectionSettings['default_role'] {
  if (!active) throw new SignInRefused('connection_inactive', 'The connection is not active.')
  if (!holds) throw new SignInRefused('domain_unverified', 'The connection has no domain that is verified now.')
  if (!linked) requireVouched(email, email_verified, owned)
  if (unproven)
    throw new SignInRefused('owner_unproven', 'An owner must have signed in with a code or a passkey first.')
  if (member || invited) return null
  // Somebody who was linked has left or was removed since: an admin decides whether they come back.
  if (!linked && default_role !== null) return default_role
  throw new SignInRefused('not_invited', 'They are not a member of this project, and must be invited.')
}

function requireVouched(email: string | null, verified: boolean, owned: boolean): void {
  if (email === null) throw new SignInRefused('email_missing', 'The provider gave no email address.')
  if (!verified) throw new SignInRefused('email_unverified', `The provider does not say that ${email} is verified.`)
  if (owned) return
  throw new SignInRefused('domain_not_owned', `${domainOf(email) ?? email} is no verified domain of this connection.`)
}
