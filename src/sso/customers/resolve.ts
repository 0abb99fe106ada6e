import { email as emailField } from '../../consumers/fields'
import type { ConsumerState } from '../../consumers/schema'
import { domainOf } from '../../domains/names'
import { MAX_SAME_ADDRESS } from '../limits'
import type { Identified } from '../oidc/oidc-client'

/** Why somebody whom the provider has identified is not signed in, with words for the developer of the application. */
export const REFUSALS = {
  no_consumer: 'This person has no consumer, and the connection does not create one.',
  consumer_blocked: 'The consumer is blocked.',
  consumer_erased: 'The consumer was erased.',
  sign_in_ended: 'The connection is no longer active, or the identity was removed during the sign-in.',
} as const
export type ConsumerRefusal = keyof typeof REFUSALS

/** Why a consumer cannot be signed in; null if it can. */
export function consumerRefusal({ state }: { state: ConsumerState }): ConsumerRefusal | null {
  if (state === 'blocked') return 'consumer_blocked'
  return state === 'erased' ? 'consumer_erased' : null
}

/**
 * Whom a first sign-in is linked to.
 *
 * @param sameAddress the consumers with the person's address; none unless the address is verified and of a verified domain
 *   of the connection
 * @returns the consumer; null for a new one; or why there is none
 */
export function choose(
  sameAddress: readonly { id: string; state: ConsumerState }[],
  createsConsumers: boolean,
): { id: string | null } | { refused: ConsumerRefusal } {
  const [one, ...others] = sameAddress.filter(({ state }) => state === 'active')
  if (one && others.length === 0 && sameAddress.length < MAX_SAME_ADDRESS) return { id: one.id }
  // A new consumer would be a way around the block.
  if (!one && sameAddress.some(({ state }) => state === 'blocked')) return { refused: 'consumer_blocked' }
  return createsConsumers ? { id: null } : { refused: 'no_consumer' }
}

/** The address that the provider has verified, in lower case, and its domain; null if a consumer cannot have it. */
export function verifiedAddressOf({ email, email_verified }: Identified): { email: string; hostname: string } | null {
  const { data } = emailField.safeParse(email)
  const hostname = data === undefined ? null : domainOf(data)
  return email_verified && data !== undefined && hostname !== null ? { email: data.toLowerCase(), hostname } : null
}
