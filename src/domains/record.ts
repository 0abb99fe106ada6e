const PREFIX = 'platform-verify='
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz' // Crockford base32, lower case
const TOKEN_CHARS = 32 // × 5 = 160 bits

/** A new token, for one row of one project. */
export function newToken(): string {
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
