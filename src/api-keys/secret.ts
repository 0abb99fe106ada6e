import { crc32Hex, randomHex, sha256Hex } from '../lib/crypto'

export const KEY_PREFIX = 'svc_v1_'
/** The 96 hex characters: 85 random ones (340 bits), the store of the key, a checksum. */
const RANDOM_CHARS = 85
const STORE_CHARS = 3
const CHECKSUM_CHARS = 8
const FORM = /^svc_v1_[0-9a-f]{96}$/

/** A new secret. It is shown once; only `hash` and `key_prefix` are stored. */
export type NewSecret = { secret: string; hash: string; key_prefix: string }

/**
 * Makes a secret: `svc_v1_`, 85 random hex characters, 3 with the number of the key's store, then 8 with the CRC-32 of
 * everything before. The checksum catches typos and junk without a database read, and lets secret scanners recognize a
 * real key.
 */
export async function newSecret(store: number): Promise<NewSecret> {
  const home = store.toString(16).padStart(STORE_CHARS, '0').slice(-STORE_CHARS)
  const payload = KEY_PREFIX + randomHex(Math.ceil(RANDOM_CHARS / 2)).slice(0, RANDOM_CHARS) + home
  const secret = payload + crc32Hex(payload)
  return { secret, hash: await sha256Hex(secret), key_prefix: displayPrefix(secret) }
}

/**
 * The store in which a secret was made. An older secret does not contain it, and gives a random number from 0 to 4,095.
 * So this is only a hint, for calls whose project does not lead to the key.
 */
export function storeOfSecret(secret: string): number {
  return Number.parseInt(secret.slice(-CHECKSUM_CHARS - STORE_CHARS, -CHECKSUM_CHARS), 16)
}

/** Whether a string has the format and the checksum of a secret. No I/O. */
export function isSecret(text: string): boolean {
  return FORM.test(text) && crc32Hex(text.slice(0, -CHECKSUM_CHARS)) === text.slice(-CHECKSUM_CHARS)
}

/** The part of a secret that may be shown: `svc_v1_`, the first four characters of its body, `…`, its last four. */
function displayPrefix(secret: string): string {
  return `${secret.slice(0, KEY_PREFIX.length + 4)}…${secret.slice(-4)}`
}
