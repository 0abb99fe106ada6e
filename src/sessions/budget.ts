import { hex, hmac, utf8 } from '../lib/crypto'

/** Half of a stored requester, in hex characters: 64 bits. */
const HALF = 16

/** Who asks for a code. `site` is the first half of `requester`, so that a range of requesters is a site. */
export type Requester = { requester: string; site: string }

/**
 * The mailbox that an address of ours leads to, in which sign-in codes are counted: in lower case, without the part
 * that a `+` begins (RFC 5233). Some mail servers take these for different mailboxes; then those share one limit. It
 * says nothing of who a user is: `a+b@example.com` and `a@example.com` are two users.
 */
export function mailboxOf(email: string): string {
  const address = email.toLowerCase()
  const at = address.lastIndexOf('@')
  const plus = address.indexOf('+')
  return plus > 0 && plus < at ? address.slice(0, plus) + address.slice(at) : address
}

/**
 * A client, as keyed hashes: the database holds no address of a visitor.
 *
 * @param client what limits count its address as
 */
export async function requesterOf(pepper: string, client: string): Promise<Requester> {
  const half = async (kind: string, of: string) =>
    hex(await hmac('SHA-256', utf8(pepper), `${kind}:${of}`)).slice(0, HALF)
  const [site, own] = await Promise.all([half('site', networkOf(client)), half('client', client)])
  return { requester: site + own, site }
}

/** The site of a client: the /48 of an IPv6 /64, the most that one site is assigned (RFC 6177); else the client alone. */
export function networkOf(client: string): string {
  const groups = /^((?:[^:]+:){3})[^:]+::\/64$/.exec(client)?.[1]
  return groups === undefined ? client : `${groups}:/48`
}
