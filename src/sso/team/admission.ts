import { SignInRefused } from '../login/refused'
import type { Identified } from '../oidc/client'
import type { ConnectionSettings } from '../values'
import type { Facts } from './admission-store'

/** The domain of an email address, in lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
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
  { email, email_verified }: Identified,
  { active, holds, owned, linked, member, invited }: Facts,
): ConnectionSettings['default_role'] {
  if (!active) throw new SignInRefused('connection_inactive', 'The connection is not active.')
  if (!holds) throw new SignInRefused('domain_unverified', 'The connection has no domain that is verified now.')
  if (!linked) requireVouched(email, email_verified, owned)
  if (member || invited) return null
  // Somebody who was linked has left or was removed since: an admin decides whether they come back.
  if (!linked && default_role !== null) return default_role
  throw new SignInRefused('not_invited', 'They are not a member of this project, and must be invited.')
}

function requireVouched(email: string | null, verified: boolean, owned: boolean): void {
  if (email === null) throw new SignInRefused('email_missing', 'The provider gave no email address.')
  if (!verified) throw new SignInRefused('email_unverified', `The provider does not say that ${email} is verified.`)
  if (owned) return
  throw new SignInRefused('domain_not_owned', `${domainOf(email)} is no verified domain of this connection.`)
}
