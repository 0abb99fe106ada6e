import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { type Actor, identify } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { Fault } from '../lib/fault'
import { SECOND } from '../lib/time'
import { sessionCredential } from '../sessions/authenticate'
import { SESSION_MAX } from '../sessions/secret'

/** `__Host-session`: the token of a session like any other. The plane never looks at it. */
const NAME = 'session'

export type User = Extract<Actor, { type: 'session' }>

/**
 * The user of the cookie's session, with his role in a project where one is named.
 *
 * @throws {Fault} 401 where nobody is signed in, `not_a_member`
 */
export async function userOfCookie(c: Context<HttpEnv>, projectId: string | null): Promise<User> {
  const token = getCookie(c, NAME, 'host')
  if (token === undefined || !sessionCredential.wellFormed(token)) throw new Fault('missing_credentials', 'Sign in.')
  return (await identify(c, sessionCredential, token, projectId)) as User
}

/** Who is signed in on a page that had to ask. */
export function userOf(c: Context<HttpEnv>): User {
  return c.get('actor') as User
}

/** Signs the browser in. The session's own end is the server's to know; the cookie outlives none. */
export function keepSession(c: Context<HttpEnv>, token: string): void {
  setCookie(c, NAME, token, {
    prefix: 'host',
    path: '/',
    secure: true,
    httpOnly: true,
    sameSite: 'Lax',
    maxAge: SESSION_MAX / SECOND,
  })
}

/** Makes the browser forget its session. */
export function forgetSession(c: Context<HttpEnv>): void {
  deleteCookie(c, NAME, { prefix: 'host', path: '/', secure: true })
}

/** A path of the console to go on to; anything else, such as another origin, becomes the console's start. */
export function localPath(c: Context<HttpEnv>, wanted: string | null | undefined): string {
  if (!wanted || !/^\/console(?=[/?]|$)/.test(wanted)) return '/console'
  const { origin, pathname, search } = new URL(wanted, c.req.url)
  return origin === new URL(c.req.url).origin && pathname.startsWith('/console') ? pathname + search : '/console'
}
