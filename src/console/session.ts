import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { type Actor, identify } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { Fault } from '../lib/fault'
import { SECOND } from '../lib/time'
import { sessionCredential } from '../sessions/authenticate'
import { SESSION_MAX } from '../sessions/limits'

/** The cookie `__Host-session` holds an ordinary session token. The API does not accept the cookie. */
const COOKIE = 'session'
/** The `__Host-` prefix restricts the cookie to this origin: browsers require Secure, Path=/ and no Domain. */
const ATTRIBUTES = { prefix: 'host', secure: true, httpOnly: true, sameSite: 'Lax' } as const

export type User = Extract<Actor, { type: 'session' }>

/**
 * The signed-in user, with the role in a project if one is given.
 *
 * @throws {Fault} a 401 fault if nobody is signed in; `not_a_member`
 */
export async function userOfCookie(c: Context<HttpEnv>, projectId: string | null): Promise<User> {
  const token = getCookie(c, COOKIE, ATTRIBUTES.prefix)
  if (token === undefined || !sessionCredential.wellFormed(token)) throw new Fault('missing_credentials', 'Sign in.')
  return (await identify(c, sessionCredential, token, projectId)) as User
}

/** The signed-in user, on a page that requires one. */
export function userOf(c: Context<HttpEnv>): User {
  return c.get('actor') as User
}

/** Signs the browser in. The server decides when the session ends; the cookie lives as long as a session can. */
export function keepSession(c: Context<HttpEnv>, token: string): void {
  setCookie(c, COOKIE, token, { ...ATTRIBUTES, maxAge: SESSION_MAX / SECOND })
}

/** Deletes the session cookie. */
export function forgetSession(c: Context<HttpEnv>): void {
  deleteCookie(c, COOKIE, ATTRIBUTES)
}
