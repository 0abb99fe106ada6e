import type { Host, Seen } from '../outside/hosts'

/*
 * The hosts outside (test/outside/), as a test sees them: it asks for a name of its own, sets what the host does, and reads
 * which requests it has received.
 */

const CONTROL = 'https://control.plain.dev'

/** A host name that no other test uses. @param kind the handler: `plain.dev`, … */
export const newHost = (kind: string): string => `h${crypto.randomUUID().slice(0, 8)}.${kind}`

/** Sets what a host does from now on, and forgets what it has received. */
export async function setHost(host: string, settings: object): Promise<void> {
  await fetch(`${CONTROL}/${host}`, { method: 'PUT', body: JSON.stringify(settings) })
}

/** The requests that a host has received since it was set. */
export async function seenBy(host: string): Promise<Seen[]> {
  return (await hostOf(host)).seen
}

/** The codes and tokens that a provider has issued since it was set. */
export async function issuedBy(host: string): Promise<string[]> {
  return (await hostOf(host)).issued
}

async function hostOf(name: string): Promise<Host> {
  return (await fetch(`${CONTROL}/${name}`)).json()
}

/**
 * Follows redirects as a browser would, with its cookies, until one leads to another host than those outside.
 *
 * @param url the address to begin with, at a provider
 * @param until the host name that ends it
 */
export async function browse(url: string, until: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let at = new URL(url)
  for (let hops = 0; at.hostname !== until; hops++) {
    if (hops > 10) throw new Error(`more than ten redirects, the last to ${at}`)
    const Cookie = [...cookies].map((cookie) => cookie.join('=')).join('; ')
    const response = await fetch(at, { redirect: 'manual', headers: { Cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('Location')
    if (location === null) throw new Error(`${at} answered ${response.status}: ${await response.text()}`)
    at = new URL(location, at)
  }
  return at
}
