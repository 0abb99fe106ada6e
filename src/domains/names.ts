import { invalidField } from '../http/validate'
import { toUnicode } from '../lib/punycode'
import { isSpecialUse } from '../lib/special-use'
import { MAX_HOSTNAME } from './limits'

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/
/** All of ASCII that a name may have. The URL parser would decode `%6d`, and cut off what follows a slash. */
const TEXT = /^[a-z0-9.\u0080-\u{10ffff}-]+$/iu

/**
 * A host name as it is stored: lower case, A-labels. Null for what is not the name of a host: an IP address, a single
 * label, an underscore, a wildcard, or one that is too long.
 */
export function hostnameOf(text: string): string | null {
  if (!TEXT.test(text)) return null
  const hostname = URL.parse(`https://${text}/`)?.hostname
  if (hostname === undefined || hostname.length > MAX_HOSTNAME) return null
  const labels = hostname.split('.')
  // The parser turns numbers in all notations into an IPv4 address.
  const isName = labels.length > 1 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '')
  return isName && isReadable(hostname) ? hostname : null
}

/** Whether all A-labels decode, and to what is encoded in the same way: the parser takes any that are in ASCII. */
function isReadable(hostname: string): boolean {
  const shown = toUnicode(hostname)
  return !/(^|\.)xn--/.test(shown) && URL.parse(`https://${shown}/`)?.hostname === hostname
}

/**
 * The name that a project wants to prove.
 *
 * @param ours host names of the deployment itself
 * @throws {Fault} `validation_failed` with `malformed`, `public_suffix` or `reserved` at `/hostname`
 */
export async function requireHostname(text: string, ours: readonly string[]): Promise<string> {
  const hostname = hostnameOf(text)
  if (hostname === null) {
    const message = `must be the name of a domain or host, such as example.com, of at most ${MAX_HOSTNAME} characters`
    throw invalidField('/hostname', 'malformed', message)
  }
  if (isSpecialUse(hostname)) {
    throw invalidField('/hostname', 'reserved', 'must not be a name for private networks or other special uses')
  }
  if (ours.some((own) => hostname === own || hostname.endsWith(`.${own}`))) {
    throw invalidField('/hostname', 'reserved', 'must not be a name of this service')
  }
  // The list of suffixes is large. Few requests need it, so it is loaded for them alone.
  const { getPublicSuffix } = await import('tldts')
  // Below a suffix of the private section, strangers get names, perhaps also that of the record.
  if (getPublicSuffix(hostname, { allowPrivateDomains: true }) === hostname) {
    throw invalidField('/hostname', 'public_suffix', 'must not be a suffix under which anyone can register names')
  }
  return hostname
}

const PREFIX = 'platform-verify='
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz' // Crockford base32, lower case
const TOKEN_CHARS = 32 // × 5 = 160 bits

/** A new token, for one row of one project. */
export function newRecordToken(): string {
  const random = crypto.getRandomValues(new Uint8Array(TOKEN_CHARS))
  return Array.from(random, (byte) => ALPHABET[byte & 31]).join('')
}

/** The name of the TXT record that proves a domain. */
export function recordName(hostname: string): string {
  return `_platform-challenge.${hostname}`
}

/** What the record must say. */
export function recordValue(token: string): string {
  return PREFIX + token
}

/** Whether a value of the name is meant as a proof, of whatever project. */
export function isProof(value: string): boolean {
  return value.startsWith(PREFIX)
}

/** The domain of an email address as the table of domains has it; null if it is not the name of a host. */
export function domainOf(email: string): string | null {
  return hostnameOf(email.slice(email.lastIndexOf('@') + 1))
}
