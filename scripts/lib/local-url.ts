/** Whether a URL is on this machine. Only there do the scripts read sign-in codes from the log. */
export function isLocal(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)
}
