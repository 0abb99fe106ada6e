import type { Host, Seen } from '../outside/hosts'

/*
 * The hosts outside (test/outside/), as a test sees them: it asks for a name of its own, sets what the host does, and reads
 * which requests it has received.
 */

const CONTROL = 'https://control.plain.dev'

/** A host name that no other test uses. @param kind the handler: `plain.dev`, … */
export const newHost = (kind: string): string => `h${crypto.randomUUID().slice(0, 8)}.${kind}`

/** Sets what a host does from now on, and forgets what it has received. */
export async function setHost(host: string, settings: Record<string, unknown>): Promise<void> {
  await fetch(`${CONTROL}/${host}`, { method: 'PUT', body: JSON.stringify(settings) })
}

/** The requests that a host has received since it was set. */
export async function seenBy(host: string): Promise<Seen[]> {
  const response = await fetch(`${CONTROL}/${host}`)
  return (await response.json<Host>()).seen
}
