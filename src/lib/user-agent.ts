/** Names of browsers and other clients by what their user agent contains, the more specific ones first. */
const CLIENTS: [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\//, 'Headless Chrome'],
  [/\bChrom(e|ium)\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^node\b/, 'Node.js'],
]
const SYSTEMS: [RegExp, string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** The client that a user agent names, such as `Firefox on Windows`. Null if it is not known. */
export function clientNamed(userAgent: string | null): string | null {
  if (userAgent === null) return null
  const find = (of: [RegExp, string][]) => of.find(([pattern]) => pattern.test(userAgent))?.[1]
  const client = find(CLIENTS)
  const system = find(SYSTEMS)
  return client && system ? `${client} on ${system}` : (client ?? null)
}
