import type { Context } from 'hono'
import type { HttpEnv } from '../http/context'

/** Everything from this origin, nothing inline, nothing evaluated. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const UNUSED = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'publickey-credentials-get', 'usb']

const HEADERS: Record<string, string> = {
  'Content-Security-Policy': POLICY,
  'X-Frame-Options': 'DENY',
  // Not no-referrer: that makes the Origin of a form `null`, which is what tells our forms from others'.
  'Referrer-Policy': 'same-origin',
  'Permissions-Policy': UNUSED.map((feature) => `${feature}=()`).join(', '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

/** The headers of every page of the console, errors too. */
export async function pageHeaders(c: Context<HttpEnv>, next: () => Promise<void>): Promise<void> {
  await next()
  for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value)
  if (c.req.url.startsWith('https:')) {
    c.res.headers.set('Strict-Transport-Security', 'max-age=31536000; includeSubDomains')
  }
}
