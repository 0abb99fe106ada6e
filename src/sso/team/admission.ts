import * as z from 'zod'
import { domainOf } from '../../domains/names'
import type { ConnectionSettings } from '../../identities/values'
import type { Identified } from '../oidc/oidc-client'

/** Somebody without an address that a user cannot have: emails are sent to it. */
export function withUsableEmail(identified: Identified): Identified {
  return { ...identified, email: z.email().max(254).safeParse(identified.email).data ?? null }
}

/**
 * What decides whether somebody may sign in with a connection of the team. `active`: the connection is; `holds`: one of its
 * domains is verified now; `owned`: that of the address is one of these; `unproven`: the identity would be linked to an owner
 * who has not proved to be one, so whoever sets up a provider could become owner; `linked`: the identity stands for a user;
 * `former`: the user has left the project or was removed, even if they came back by an invitation, or deleted their account; `invited`: the user, or the
 * address if it is no user's, has an open invitation to the project.
 */
export const FACTS = ['active', 'holds', 'owned', 'unproven', 'linked', 'member', 'former', 'invited'] as const
export type AdmissionFacts = Record<(typeof FACTS)[number], boolean>

type Role = ConnectionSettings['default_role']
/** Why somebody may not sign in: a stable word, and a sentence for people. */
export type NotAdmitted = { reason: string; message: string }

export const NOT_INVITED: NotAdmitted = {
  reason: 'not_invited',
  message: 'They are not a member of this project, and must be invited.',
}

/**
 * Whether somebody may sign in with a connection of the team. An identity that is linked stays so, whatever the provider says
 * of its address later.
 *
 * @returns `role`: as which they become a member; null for a member, and for somebody who is invited. Or why they may not
 */
export function admit(
  { default_role }: ConnectionSettings,
  identified: Identified,
  { active, holds, owned, unproven, linked, member, former, invited }: AdmissionFacts,
): { role: Role } | NotAdmitted {
  if (!active) return { reason: 'connection_inactive', message: 'The connection is not active.' }
  if (!holds) return { reason: 'domain_unverified', message: 'The connection has no verified domain.' }
  const doubt = linked ? null : doubtAbout(identified, owned)
  if (doubt) return doubt
  if (unproven)
    return { reason: 'owner_unproven', message: 'An owner must have signed in with a code or a passkey first.' }
  if (member) return { role: null }
  // Somebody who has left or was removed: an admin decides whether they come back.
  if (!linked && !former && default_role !== null) return { role: default_role }
  if (invited) return { role: null }
  return NOT_INVITED
}

/** Why the address of somebody new does not say who they are; null if it does. @param owned whether the connection vouches for its domain */
export function doubtAbout(
  { email, email_verified }: Pick<Identified, 'email' | 'email_verified'>,
  owned: boolean,
): NotAdmitted | null {
  if (email === null) return { reason: 'email_missing', message: 'The provider did not send an email address.' }
  if (!email_verified)
    return { reason: 'email_unverified', message: `The provider does not say that ${email} is verified.` }
  if (owned) return null
  return {
    reason: 'domain_not_owned',
    message: `${domainOf(email) ?? email} is not a verified domain of this connection.`,
  }
}
