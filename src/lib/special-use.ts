/**
 * Top-level names that never lead to a host of the public internet: the IANA registry of special-use domain names; `internal`,
 * which ICANN has reserved for private networks; and those that private networks use all the same (RFC 6762, appendix G, the
 * names that ICANN will not delegate for that reason, and `svc`, which Kubernetes uses). `home.arpa` and its kind are below `arpa`.
 */
const SPECIAL_USE = new Set(
  'alt arpa corp example home internal intranet invalid lan local localdomain localhost mail onion private svc test'.split(
    ' ',
  ),
)

/** Domains below which a name leads to the IP address that it contains, or to the own machine. */
const LEADS_ANYWHERE = ['nip.io', 'sslip.io', 'xip.io', 'traefik.me', 'localtest.me', 'lvh.me', 'vcap.me']

/** Whether a host name, in lower case, is a special-use name or below one, or leads wherever whoever writes it wants. */
export function isSpecialUse(hostname: string): boolean {
  if (LEADS_ANYWHERE.some((name) => hostname === name || hostname.endsWith(`.${name}`))) return true
  return SPECIAL_USE.has(hostname.slice(hostname.lastIndexOf('.') + 1))
}
