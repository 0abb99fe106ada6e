import { getCookie, setCookie } from 'hono/cookie'
import { randomHex } from '../lib/crypto'
import { DAY, SECOND } from '../lib/time'
import type { Visit } from './page'
import { ATTRIBUTES } from './session'

/**
 * The cookie `__Host-browser` tells a browser that a user has signed in from before. It is random and gives no access: without
 * it, the user is only sent a notice. It says nothing about the user, so it stays after sign-out.
 */
const COOKIE = 'browser'
/** The longest that browsers keep a cookie (ms). */
const KEPT = 400 * DAY

/** The cookie of this browser; a new one if it has none. */
export function browserOf(c: Visit): { cookie: string } {
  const cookie = getCookie(c, COOKIE, ATTRIBUTES.prefix)
  return { cookie: cookie !== undefined && /^[0-9a-f]{32}$/.test(cookie) ? cookie : randomHex(16) }
}

/** Gives the browser its cookie. */
export function keepBrowser(c: Visit, { cookie }: { cookie: string }): void {
  setCookie(c, COOKIE, cookie, { ...ATTRIBUTES, maxAge: KEPT / SECOND })
}
