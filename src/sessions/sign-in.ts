import type { Context } from 'hono'
import type { Runtime } from '../env'
import type { HttpEnv } from '../http/context'
import { limit } from '../http/rate-limit'
import { sha256Hex } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'
import { hashCode, newSessionToken, normalizeCode, sessionEnd } from './secret'
import { redeemCode, type User } from './store'

/** Counts a sign-in request against its address. @throws {Fault} `rate_limited` */
export function limitSignIn(c: Context<HttpEnv>): Promise<void> {
  const address = c.req.header('CF-Connecting-IP') ?? 'local'
  return limit(c.get('rt').limits.signIn, address, 'Too many sign-in requests from this address.')
}

/**
 * Opens a session with a code. The token is returned this once; its hash is what is stored.
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
  if (!user) throw new Fault('invalid_code', 'The code is wrong, spent or expired: ask for a new one.')
  return { token, expires_at, user }
}
