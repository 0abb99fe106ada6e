import { email as emailField } from '../../consumers/fields'
import { domainOf } from '../email-domain'
import type { Identified } from '../oidc/client'

/** The address that the provider has verified, in lower case, and its domain; null if a consumer cannot have it. */
export function addressOf({ email, email_verified }: Identified): { email: string; hostname: string } | null {
  const { data } = emailField.safeParse(email)
  const hostname = data === undefined ? null : domainOf(data)
  return email_verified && data !== undefined && hostname !== null ? { email: data.toLowerCase(), hostname } : null
}
