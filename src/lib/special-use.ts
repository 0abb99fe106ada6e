/**
 * Top-level names that never lead to a host of the public internet (the IANA registry of special-use domain names, and
 * `internal`, which ICANN has reserved for private networks). `home.arpa` and its kind are below `arpa`.
 */
const SPECIAL_USE = new Set(['alt', 'arpa', 'example', 'internal', 'invalid', 'local', 'localhost', 'onion', 'test'])

/** Whether a host name, in lower case, is a special-use name or below one. */
export function isSpecialUse(hostname: string): boolean {
  return SPECIAL_USE.has(hostname.slice(hostname.lastIndexOf('.') + 1))
}
