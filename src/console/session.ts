import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { run } from '../db/client'
import type { Actor } from '../http/actor'
import { askedFrom, identifyCaller } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { sha256Hex } from '../lib/crypto'
import { Fault } from '../lib/fault'
import type { FaultName } from '../lib/faults'
import { SECOND } from '../lib/time'
import { sessionCredential } from '../sessions/authenticate'
import { SESSION_MAX } from '../sessions/limits'

/** The cookie `__Host-session` holds an ordinary session token. The API does not accept the cookie. */
const COOKIE = 'session'
/** The `__Host-` prefix restricts the cookie to this origin: browsers require Secure, Path=/ and no Domain. */
export const ATTRIBUTES = { prefix: 'host', secure: true, httpOnly: true, sameSite: 'Lax' } as const

/** What the cookie of a session that has ended leads to. */
const ENDED: FaultName[] = ['unknown_session', 'session_expired']
const NOT_SIGNED_IN: FaultName[] = ['missing_credentials', 'malformed_credentials', ...ENDED]

export type SignedIn = Extract<Actor, { type: 'session' }>

/**
 * The signed-in user, with the role in a project if one is given.
 *
 * @throws {Fault} a 401 fault if nobody is signed in; `not_a_member`
 */
export async function userOfCookie(c: Context<HttpEnv>, projectId: string | null): Promise<SignedIn> {
  const token = cookieOf(c)
  if (token === null) throw new Fault('missing_credentials', 'Sign in.')
  return (await identifyCaller(c, sessionCredential, token, projectId)) as SignedIn
}

/**
 * The user that this browser is signed in as, or null, on a page for anybody. It gives no access to anything, so a
 * cookie that no longer works does not count as a failed authentication.
 *
 * @throws {Fault} `database_unavailable`
 */
export async function visitorOf(c: Context<HttpEnv>): Promise<SignedIn | null> {
  const rt = c.get('rt')
  const token = cookieOf(c)
  if (token === null) return null
  const { db, query, judge } = sessionCredential.lookup(rt, { token, hash: await sha256Hex(token) }, null, askedFrom(c))
  try {
    return (await judge(await run(db, query))) as SignedIn
  } catch (error) {
    if (isNotSignedIn(error)) return null
    throw error
  }
}

/** The session token in the cookie; null if there is none. */
function cookieOf(c: Context<HttpEnv>): string | null {
  const token = getCookie(c, COOKIE, ATTRIBUTES.prefix)
  return token !== undefined && sessionCredential.wellFormed(token) ? token : null
}

/** Whether an error says that nobody is signed in. */
export function isNotSignedIn(error: unknown): boolean {
  return error instanceof Fault && NOT_SIGNED_IN.includes(error.fault)
}

/** Whether an error says that the browser had a session, which has ended. */
export function hasEnded(error: unknown): boolean {
  return error instanceof Fault && ENDED.includes(error.fault)
}

/** The signed-in user, on a page that requires one. */
export function userOf(c: Context<HttpEnv>): SignedIn {
  return c.get('actor') as SignedIn
}

/** Signs the browser in. The server decides when the session ends; the cookie lives as long as a session can. */
export function keepSession(c: Context<HttpEnv>, token: string): void {
  setCookie(c, COOKIE, token, { ...ATTRIBUTES, maxAge: SESSION_MAX / SECOND })
}

/** Deletes the session cookie. */
export function forgetSession(c: Context<HttpEnv>): void {
  deleteCookie(c, COOKIE, ATTRIBUTES)
}
