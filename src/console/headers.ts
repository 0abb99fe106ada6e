import type { Context } from 'hono'
import type { HttpEnv } from '../http/context'

/** Allows resources from this origin only. Inline scripts, inline styles and eval are blocked. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const UNUSED = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb']

/** The security headers of every page. */
export const PAGE_HEADERS: Record<string, string> = {
  'Content-Security-Policy': POLICY,
  'X-Frame-Options': 'DENY',
  // Not `no-referrer`: it would set the Origin of our own forms to `null`, and we check the Origin.
  'Referrer-Policy': 'same-origin',
  'Permissions-Policy': UNUSED.map((feature) => `${feature}=()`).join(', '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

/** Sets the security headers of every console page, including error pages. */
export async function pageHeaders(c: Context<HttpEnv>, next: () => Promise<void>): Promise<void> {
  await next()
  for (const [name, value] of Object.entries(PAGE_HEADERS)) c.res.headers.set(name, value)
}
