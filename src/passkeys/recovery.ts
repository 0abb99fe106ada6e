import type { Runtime } from '../env'
import { Fault } from '../lib/fault'
import { hashCode, newCode, normalizeCode } from '../sessions/secret'
import { factorRequired } from './faults'
import { RECOVERY_CODES } from './limits'
import { redeemRecoveryCode, replaceCodes } from './recovery-store'
import type { Acting } from './store'

/** Characters of a code: 50 bits. */
const CHARS = 10

/** New recovery codes, as people read them. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = newCode(CHARS)
    return `${code.slice(0, CHARS / 2)}-${code.slice(CHARS / 2)}`
  })
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
export async function renewRecoveryCodes(rt: Runtime, session: Acting): Promise<string[]> {
  const codes = newRecoveryCodes()
  const hashes = await hashesOf(rt, session.user_id, codes)
  const { some, made } = await replaceCodes(rt.directory, session, hashes, rt.now)
  if (!some) throw new Fault('not_found', 'You have no passkey, so there is nothing to recover. Add a passkey first.')
  if (!made) throw factorRequired()
  return codes
}

/**
 * Uses a recovery code as the second factor of a session.
 *
 * @throws {Fault} `invalid_recovery_code`
 */
export async function useRecoveryCode(rt: Runtime, session: Acting, typed: string): Promise<void> {
  const [hash = ''] = await hashesOf(rt, session.user_id, [typed])
  if (await redeemRecoveryCode(rt.directory, session, hash, rt.now)) return
  throw new Fault('invalid_recovery_code', 'The recovery code is wrong or was used before.')
}
