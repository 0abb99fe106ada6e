import type { Actor } from '../http/actor'
import { requireConfirmedFor } from '../http/policy'
import { ADMINISTRATIVE, missingScopes } from '../lib/access'
import { Fault, notFound } from '../lib/fault'
import { isWithinNetworks } from '../lib/networks'
import { keyRevoked, keyRotated, rotatedByOther, rotationOfExpired, rotationOfRevoked } from './faults'
import type { apiKeys } from './schema'

type Limited = { rate_limit: number | null }
type Stored = typeof apiKeys.$inferSelect

/** The key, if the caller may rotate it now. */
export function rotatable(rows: Stored[], { id, actor }: { id: string; actor: Actor }, now: number): Stored {
  if (actor.type === 'api_key' && actor.secret === 'other') throw rotatedByOther()
  const current = rows.find((row) => row.id === id)
  if (!current) throw notFound('API key')
  if (current.revoked_at !== null) throw rotationOfRevoked()
  if (current.expires_at !== null && current.expires_at <= now) {
    throw rotationOfExpired()
  }
  const [missing] = missingScopes(current.scopes, actor.scopes)
  if (missing) {
    throw new Fault(
      'insufficient_scope',
      `You cannot rotate this API key: it has the scope ${missing}, which you do not have.`,
      { missing },
    )
  }
  requireConfirmedFor(actor, current.scopes)
  return current
}

/**
 * Refuses a key with an administrative scope to another API key. The scope counts by the role of who minted the key that has
 * it. So a user who was removed could rotate a colleague's key with their own, whose scope no longer counts.
 */
export function requireOrdinary({ scopes }: Stored): void {
  const missing = scopes.find((scope) => ADMINISTRATIVE.includes(scope))
  if (!missing) return
  throw new Fault(
    'insufficient_scope',
    `Rotate this key with a session: it has ${missing}, which an API key cannot hand on.`,
    { missing },
  )
}

/** The API key that makes the call, if it lasts at least as long as the key whose secret it would get. */
export function requireLasting(rows: Stored[], id: string, { expires_at: end }: Stored): Stored {
  const by = rows.find((row) => row.id === id)
  if (!by) throw keyRevoked()
  if (by.expires_at === null || (end !== null && end <= by.expires_at)) return by
  throw new Fault(
    'key_expires_first',
    'Your API key expires before the key that it would rotate, so the new secret would outlive yours. Use a console session, or an API key that lasts longer.',
  )
}

/** @throws {Fault} `key_reaches_further` if the key whose secret the caller would get works in more networks, or more often */
export function requireNarrower(by: Stored, current: Stored): void {
  const isMore = !isWithinNetworks(current.allowed_networks, by.allowed_networks) || isHigher(current, by)
  if (!isMore) return
  throw new Fault(
    'key_reaches_further',
    'Your API key works in fewer networks or has a lower limit than the key that it would rotate, so the new secret could do more than yours. Use a console session, or another API key.',
  )
}

/** Whether a key may make more requests than another one. */
export function isHigher(key: Limited, than: Limited): boolean {
  return (key.rate_limit ?? Number.POSITIVE_INFINITY) > (than.rate_limit ?? Number.POSITIVE_INFINITY)
}

/** @throws {Fault} what happened to the caller between its authentication and the write */
export function requireSame(by: Stored, now: Pick<Stored, 'hash' | 'revoked_at'> | undefined): void {
  if (!now || now.revoked_at !== null) throw keyRevoked()
  if (now.hash !== by.hash) throw keyRotated()
}
