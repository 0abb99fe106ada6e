import type { Context } from 'hono'
import { type Actor, identify } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { Fault } from '../lib/fault'
import { SECOND } from '../lib/time'
import { sessionCredential } from '../sessions/authenticate'
import { SESSION_MAX } from '../sessions/limits'

/** The token of a session like any other. The plane never looks at it. A `__Host-` cookie is this origin's alone. */
const COOKIE = /(?:^|;\s*)__Host-session=([^;]*)/

export type User = Extract<Actor, { type: 'session' }>

/**
 * The user of the cookie's session, with his role in a project where one is named.
 *
 * @throws {Fault} 401 where nobody is signed in, `not_a_member`
 */
export async function userOfCookie(c: Context<HttpEnv>, projectId: string | null): Promise<User> {
  const token = COOKIE.exec(c.req.header('Cookie') ?? '')?.[1]
  if (token === undefined || !sessionCredential.wellFormed(token)) throw new Fault('missing_credentials', 'Sign in.')
  return (await identify(c, sessionCredential, token, projectId)) as User
}

/** Who is signed in on a page that had to ask. */
export function userOf(c: Context<HttpEnv>): User {
  return c.get('actor') as User
}

/** Signs the browser in. The session's own end is the server's to know; the cookie outlives none. */
export function keepSession(c: Context<HttpEnv>, token: string): void {
  setCookie(c, token, SESSION_MAX / SECOND)
}

/** Makes the browser forget its session. */
export function forgetSession(c: Context<HttpEnv>): void {
  setCookie(c, '', 0)
}

function setCookie(c: Context<HttpEnv>, value: string, maxAge: number): void {
  c.header('Set-Cookie', `__Host-session=${value}; Max-Age=${maxAge}; Path=/; HttpOnly; Secure; SameSite=Lax`)
}

/** A path of the console to go on to; anything else, such as another origin, becomes the console's start. */
export function localPath(c: Context<HttpEnv>, wanted: string | null | undefined): string {
  if (!wanted || !/^\/console(?=[/?]|$)/.test(wanted)) return '/console'
  const { origin, pathname, search } = new URL(wanted, c.req.url)
  return origin === new URL(c.req.url).origin && pathname.startsWith('/console') ? pathname + search : '/console'
}
