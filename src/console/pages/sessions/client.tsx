import { clientNamed } from '../../../lib/user-agent'

/** What to call the client with a user agent. */
export function clientName(userAgent: string | null): string {
  return clientNamed(userAgent) ?? userAgent ?? 'Unknown client'
}

/** The user agent in full, under the name of a client that has one. */
export function UserAgent({ of }: { of: string | null }) {
  return clientNamed(of) ? <span class="line cut quiet">{of}</span> : null
}
