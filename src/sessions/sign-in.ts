import type { Context } from 'hono'
import type { Runtime } from '../env'
import { addressOf } from '../http/address'
import type { HttpEnv } from '../http/context'
import { limit } from '../http/rate-limit'
import { sha256Hex } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'
import { deliver } from './deliver'
import { CODE_TTL } from './limits'
import { hashCode, newCode, newSessionToken, normalizeCode, sessionEnd } from './secret'
import { insertCode, redeemCode, type User } from './store'

/** Counts a sign-in request against the client's address. @throws {Fault} `rate_limited` */
export function limitSignIn(c: Context<HttpEnv>): Promise<void> {
  return limit(c.get('rt').limits.signIn, addressOf(c), 'Too many sign-in requests from this address.')
}

/**
 * Makes a sign-in code and sends it after the response, which is the same whether the address is known or not.
 *
 * @param url the URL of this request, for the link in the message
 */
export async function requestCode(
  rt: Runtime,
  email: string,
  url: string,
): Promise<{ challenge: string; expires_at: number }> {
  const address = email.toLowerCase()
  const challenge = newId('chl', rt.now)
  const code = newCode()
  const expires_at = rt.now + CODE_TTL
  const code_hash = await hashCode(rt.settings.codePepper, challenge, code)
  const { recorded, known } = await insertCode(rt.db, { id: challenge, email: address, code_hash, expires_at }, rt.now)
  if (recorded && (known || rt.settings.signUp === 'open')) {
    const { origin, hostname } = new URL(url)
    const link = `${origin}/auth/sign-in?challenge=${challenge}&code=${code}`
    rt.waitUntil(deliver(rt, hostname, { email: address, code, link }))
  }
  return { challenge, expires_at }
}

/**
 * Opens a session with a code. The token is returned only here; only its hash is stored.
 *
 * @throws {Fault} `invalid_code`
 */
export async function signIn(
  rt: Runtime,
  challenge: string,
  code: string,
  userAgent: string | undefined,
): Promise<{ token: string; expires_at: number; user: User }> {
  const token = newSessionToken()
  const expires_at = sessionEnd(rt.now, rt.now)
  const [code_hash, hash] = await Promise.all([
    hashCode(rt.settings.codePepper, challenge, normalizeCode(code)),
    sha256Hex(token),
  ])
  const user = await redeemCode(
    rt.db,
    { challenge, code_hash, signUp: rt.settings.signUp },
    { id: newId('ses', rt.now), hash, expires_at, user_agent: userAgent?.slice(0, 200) ?? null },
    rt.now,
  )
  if (!user) throw new Fault('invalid_code', 'The code is wrong, used or expired. Request a new one.')
  return { token, expires_at, user }
}
