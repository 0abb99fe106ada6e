import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { type Actor, identify } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { Fault } from '../lib/fault'
import { SECOND } from '../lib/time'
import { sessionCredential } from '../sessions/authenticate'
import { SESSION_MAX } from '../sessions/limits'

/** The token of a session like any other, in the cookie `__Host-session`. The API never reads it. */
const COOKIE = 'session'
/** The `__Host-` prefix binds the cookie to this origin alone: Secure, Path=/ and no Domain. */
const ATTRIBUTES = { prefix: 'host', secure: true, httpOnly: true, sameSite: 'Lax' } as const

export type User = Extract<Actor, { type: 'session' }>

/**
 * The user of the cookie's session, with his role in a project where one is named.
 *
 * @throws {Fault} 401 where nobody is signed in, `not_a_member`
 */
export async function userOfCookie(c: Context<HttpEnv>, projectId: string | null): Promise<User> {
  const token = getCookie(c, COOKIE, ATTRIBUTES.prefix)
  if (token === undefined || !sessionCredential.wellFormed(token)) throw new Fault('missing_credentials', 'Sign in.')
  return (await identify(c, sessionCredential, token, projectId)) as User
}

/** Who is signed in on a page that had to ask. */
export function userOf(c: Context<HttpEnv>): User {
  return c.get('actor') as User
}

/** Signs the browser in. The session's own end is the server's to know; the cookie outlives none. */
export function keepSession(c: Context<HttpEnv>, token: string): void {
  setCookie(c, COOKIE, token, { ...ATTRIBUTES, maxAge: SESSION_MAX / SECOND })
}

/** Makes the browser forget its session. */
export function forgetSession(c: Context<HttpEnv>): void {
  deleteCookie(c, COOKIE, ATTRIBUTES)
}
