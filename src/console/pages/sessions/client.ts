import { clientNamed } from '../../../lib/user-agent'

/** What to call the client with a user agent. */
export function clientName(userAgent: string | null): string {
  return clientNamed(userAgent) ?? userAgent ?? 'Unknown client'
}
