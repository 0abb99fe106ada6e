/** The domain of an email address as the table of domains has it, in A-labels; null if it is not the name of a host. */
export function domainOf(email: string): string | null {
  return URL.parse(`https://${email.slice(email.lastIndexOf('@') + 1)}/`)?.hostname ?? null
}
