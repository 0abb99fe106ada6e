import { hex, hmac, randomHex, utf8 } from '../lib/crypto'
import { SESSION_IDLE, SESSION_MAX, SSO_SESSION_MAX } from './limits'

export const SESSION_PREFIX = 'svc_cs_'
const FORM = /^svc_cs_[0-9a-f]{64}$/

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ' // Crockford base32
const CODE_CHARS = 8 // 40 bits, for five attempts

export function newSessionToken(): string {
  return SESSION_PREFIX + randomHex(32)
}

export function isSessionToken(text: string): boolean {
  return FORM.test(text)
}

/** A new code: random characters of Crockford base32, eight of them for a sign-in code. */
export function newCode(chars = CODE_CHARS): string {
  const bytes = crypto.getRandomValues(new Uint8Array(chars))
  return Array.from(bytes, (byte) => ALPHABET[byte & 31]).join('')
}

/** Normalizes a code as people type it: any case, O for 0, I or L for 1, spaces or dashes anywhere. */
export function normalizeCode(typed: string): string {
  return typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1')
}

/** The hash of a code that is stored. It is useless without the pepper, and for any other challenge. */
export async function hashCode(pepper: string, challenge: string, code: string): Promise<string> {
  return hex(await hmac('SHA-256', utf8(pepper), `${challenge}:${code}`))
}

/** The end of a session that is used now (ms). @param sso whether single sign-on opened it */
export function sessionEnd(createdAt: number, now: number, sso = false): number {
  return Math.min(now + SESSION_IDLE, createdAt + (sso ? SSO_SESSION_MAX : SESSION_MAX))
}
