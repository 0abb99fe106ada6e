import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { HttpEnv } from '../../http/context'
import { randomHex, sha256Hex } from '../../lib/crypto'
import { SECOND } from '../../lib/time'
import { LOGIN_TTL } from '../limits'
import type { Bound } from './logins-store'

/**
 * The cookie `__Host-sso` binds a login to the browser that began it, so that nobody can be signed in by a link that
 * somebody else came back with. Lax, because the provider leads back from another site.
 */
const COOKIE = 'sso'
const ATTRIBUTES = { prefix: 'host', secure: true, httpOnly: true, sameSite: 'Lax' } as const

/** A new state for a login in this browser, whose cookie lives as long. @returns what the database keeps of both */
export async function bindBrowser(c: Context<HttpEnv>): Promise<{ state: string; bound: Bound }> {
  const state = randomHex(32)
  // A browser keeps its cookie: another tab may be signing in too.
  const cookie = cookieOf(c) ?? randomHex(32)
  setCookie(c, COOKIE, cookie, { ...ATTRIBUTES, maxAge: LOGIN_TTL / SECOND })
  const [state_hash, browser_hash] = await Promise.all([sha256Hex(state), sha256Hex(cookie)])
  return { state, bound: { state_hash, browser_hash } }
}

/** The state that a browser comes back with, and what it is bound to; null without a state or a cookie. */
export async function returned(c: Context<HttpEnv>): Promise<{ state: string; bound: Bound } | null> {
  const { state } = c.req.query()
  const cookie = cookieOf(c)
  if (state === undefined || cookie === null) return null
  const [state_hash, browser_hash] = await Promise.all([sha256Hex(state), sha256Hex(cookie)])
  return { state, bound: { state_hash, browser_hash } }
}

function cookieOf(c: Context<HttpEnv>): string | null {
  const cookie = getCookie(c, COOKIE, ATTRIBUTES.prefix)
  return cookie !== undefined && /^[0-9a-f]{64}$/.test(cookie) ? cookie : null
}
