import { randomHex, sha256Hex } from '../lib/crypto'

const PREFIX = 'svc_dv_'
const RANDOM_BYTES = 32
const SHOWN_CHARS = 4
const FORM = /^svc_dv_[0-9a-f]{64}$/

/** A new token. It is shown once; only `hash` and `token_prefix` are stored. */
export type NewToken = { token: string; hash: string; token_prefix: string }

/** Makes a token: `svc_dv_` and 64 random hex characters. It need not name its store: a project's key verifies it. */
export async function newDeviceToken(): Promise<NewToken> {
  const token = PREFIX + randomHex(RANDOM_BYTES)
  const token_prefix = `${token.slice(0, PREFIX.length + SHOWN_CHARS)}…${token.slice(-SHOWN_CHARS)}`
  return { token, hash: await sha256Hex(token), token_prefix }
}

/** Whether a text has the format of a token. No I/O. */
export function isToken(text: string): boolean {
  return FORM.test(text)
}
