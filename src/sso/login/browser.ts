import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { HttpEnv } from '../../http/context'
import { publicOrigin, requirePublicOrigin } from '../../http/origin'
import { randomHex, sha256Hex } from '../../lib/crypto'
import { SECOND } from '../../lib/time'
import type { SsoConnection } from '../connections/connection'
import { LOGIN_TTL } from '../limits'
import type { Bound } from './logins'

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

/**
 * The origin that shows the sign-in of a connection, where its cookie is.
 *
 * @throws {Fault} `public_origin_missing`
 */
function originOf(c: Context<HttpEnv>, { surface_host }: Pick<SsoConnection, 'surface_host'>): string {
  if (surface_host !== null) return `https://${surface_host}`
  requirePublicOrigin(c)
  return publicOrigin(c) ?? ''
}

/** The address that the provider sends browsers back to: one for each connection, so that no provider can answer for another. */
export function callbackUrl(c: Context<HttpEnv>, connection: Pick<SsoConnection, 'id' | 'surface_host'>): string {
  return `${originOf(c, connection)}/sso/callback/${connection.id}`
}

/** The parameter of a link that a person has chosen to continue with: see `openLogin`. */
export const ASKED = 'continue'

/** The link that begins a login in a browser. */
export function loginUrl(
  c: Context<HttpEnv>,
  connection: Pick<SsoConnection, 'surface_host'>,
  loginId: string,
): string {
  return `${originOf(c, connection)}/sso/login/${loginId}`
}

/** The same address at another origin, if the request has come to another host: the cookie must be where the callback is. */
export function elsewhere(c: Context<HttpEnv>, origin: string): string | null {
  const { host, pathname, search } = new URL(c.req.url)
  return host === new URL(origin).host ? null : origin + pathname + search
}
