import { hostnameOf } from '../domains/names'

/** The domain of an email address as the table of domains has it; null if it is not the name of a host. */
export function domainOf(email: string): string | null {
  return hostnameOf(email.slice(email.lastIndexOf('@') + 1))
}
