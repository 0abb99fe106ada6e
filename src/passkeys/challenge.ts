import type { Runtime } from '../env'
import { equalBytes, hex, hmac, utf8 } from '../lib/crypto'
import { idTime, newId } from '../lib/ids'
import { CHALLENGE_TTL } from './limits'

/** What a challenge is for. `session`: the session that asked for it; null if nobody was signed in. */
export type ChallengePurpose = { to: 'register' | 'sign_in' | 'prove'; session: string | null }

/**
 * A challenge for an authenticator to sign. It is signed itself, so nothing is stored until it is answered: anybody may
 * ask for one.
 */
export async function newChallenge(rt: Runtime, purpose: ChallengePurpose): Promise<string> {
  const id = newId('pch', rt.now)
  return `${id}.${await macOf(rt, purpose, id)}`
}

/**
 * The id of a challenge of ours that is for this purpose and has not expired; null for any other text. The caller must
 * record it as spent in the batch that acts on the answer.
 */
export async function idOfChallenge(rt: Runtime, purpose: ChallengePurpose, challenge: string): Promise<string | null> {
  const [id = '', mac = ''] = challenge.split('.')
  if (!equalBytes(utf8(mac), utf8(await macOf(rt, purpose, id)))) return null
  return idTime(id) + CHALLENGE_TTL > rt.now ? id : null
}

async function macOf(rt: Runtime, { to, session }: ChallengePurpose, id: string): Promise<string> {
  return hex(await hmac('SHA-256', utf8(rt.settings.codePepper), `passkey:${to}:${session ?? ''}:${id}`))
}
