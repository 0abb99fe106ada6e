import type { Context } from 'hono'
import { byOf } from '../accounts/by'
import { tellChange } from '../accounts/tell'
import type { Runtime } from '../env'
import type { HttpEnv } from '../http/context'
import { Fault } from '../lib/fault'
import { hashCode, newCode, normalizeCode } from '../sessions/secret'
import type { Acting } from './acting'
import { factorRequired } from './faults'
import { RECOVERY_CODES } from './limits'
import { redeemRecoveryCode, replaceCodes } from './recovery-codes'

/** Characters of a code: 120 bits. From 112 on, nobody who has a hash and its key can try all codes. */
const CHARS = 24

/** New recovery codes, as people read them: in groups of six. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => newCode(CHARS).replaceAll(/.{6}(?=.)/g, '$&-'))
}

/** The hashes of a user's codes, which are stored. They are useless without the pepper, and for any other user. */
export function hashesOf(rt: Runtime, userId: string, codes: readonly string[]): Promise<string[]> {
  const { codePepper } = rt.settings
  return Promise.all(codes.map((code) => hashCode(codePepper, `recovery:${userId}`, normalizeCode(code))))
}

/**
 * Replaces the recovery codes of the user.
 *
 * @returns the new ones, which are not stored
 * @throws {Fault} `not_found` if the user has no passkey; `passkey_required` if the session has no second factor
 */
export async function renewRecoveryCodes(c: Context<HttpEnv>, session: Acting): Promise<string[]> {
  const codes = await renewOnce(c, session, undefined)
  if (!codes) throw new Error('no codes were named, and others were found')
  return codes
}

/**
 * Replaces the recovery codes that the caller saw, as {@link renewRecoveryCodes} does, so that a repeated request makes codes
 * only once.
 *
 * @param known when those codes were made; null if there were none; undefined for whichever there are
 * @returns null if other codes have been made since
 */
export async function renewOnce(
  c: Context<HttpEnv>,
  session: Acting,
  known: number | null | undefined,
): Promise<string[] | null> {
  const rt = c.get('rt')
  const codes = newRecoveryCodes()
  const hashes = await hashesOf(rt, session.user_id, codes)
  const { some, seen, made, notice } = await replaceCodes(rt.directory, session, { hashes, known }, byOf(c))
  if (!some) throw new Fault('not_found', 'You have no passkey, so there is nothing to recover. Add a passkey first.')
  if (!seen) return null
  if (!made) throw factorRequired()
  tellChange(c, 'recovery_codes_made', notice)
  return codes
}

/**
 * Uses a recovery code as the second factor of a session.
 *
 * @throws {Fault} `invalid_recovery_code`
 */
export async function useRecoveryCode(c: Context<HttpEnv>, session: Acting, typed: string): Promise<void> {
  const rt = c.get('rt')
  const [hash = ''] = await hashesOf(rt, session.user_id, [typed])
  const notice = await redeemRecoveryCode(rt.directory, session, hash, byOf(c))
  if (!notice) throw new Fault('invalid_recovery_code', 'The recovery code is wrong or was used before.')
  tellChange(c, 'recovery_code_used', notice)
}
