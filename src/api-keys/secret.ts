import { crc32Hex, randomHex, sha256Hex } from '../lib/crypto'

export const KEY_PREFIX = 'svc_v1_'
const RANDOM_BYTES = 44 // 352 bits, 88 hex characters; the last 8 of the 96 are a checksum
const FORM = /^svc_v1_[0-9a-f]{96}$/

/** A new secret. It is shown once; only `hash` and `key_prefix` are stored. */
export type NewSecret = { secret: string; hash: string; key_prefix: string }

/**
 * Makes a secret: `svc_v1_`, 88 random hex characters, then the CRC-32 of everything before it, as 8 hex characters.
 * The checksum catches typos and junk without a database read, and lets secret scanners recognize a real key.
 */
export async function newSecret(): Promise<NewSecret> {
  const payload = KEY_PREFIX + randomHex(RANDOM_BYTES)
  const secret = payload + crc32Hex(payload)
  return { secret, hash: await sha256Hex(secret), key_prefix: displayPrefix(secret) }
}

/** Whether a string has the format and the checksum of a secret. No I/O. */
export function isSecret(text: string): boolean {
  return FORM.test(text) && crc32Hex(text.slice(0, -8)) === text.slice(-8)
}

/** The part of a secret that may be shown: `svc_v1_`, the first four characters of its body, `…`, its last four. */
function displayPrefix(secret: string): string {
  return `${secret.slice(0, KEY_PREFIX.length + 4)}…${secret.slice(-4)}`
}
