/** Whether a text is a host name as URLs have it: in lower case, with a dot, and without a port. */
export function isHostname(text: string): boolean {
  return URL.parse(`https://${text}/`)?.hostname === text && text.includes('.')
}

/** The names in a list with commas, in lower case. They may be no host names. */
export function hostnamesFrom(list: string): string[] {
  return list
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
