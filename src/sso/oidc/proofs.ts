import { hmac, utf8 } from '../../lib/crypto'
import type { Host } from './client'

/** What proves that a response belongs to a sign-in that began here. */
export type Proofs = { nonce: string; verifier: string }

/**
 * The nonce and the PKCE verifier of a sign-in: HMACs of its state. The state is stored as a hash and travels through the
 * browser, so neither the database nor the browser knows enough to make them.
 */
export async function proofsOf({ settings }: Pick<Host, 'settings'>, state: string): Promise<Proofs> {
  const derive = async (use: string) => {
    const bytes = await hmac('SHA-256', utf8(settings.codePepper), `${use}:${state}`)
    return bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
  }
  return { nonce: await derive('sso-nonce'), verifier: await derive('sso-verifier') }
}
