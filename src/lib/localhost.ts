/** Whether a host name of a URL is this machine's own. */
export function isLocalhost(host: string): boolean {
  return host === 'localhost' || host === '127.0.0.1' || host === '[::1]'
}
