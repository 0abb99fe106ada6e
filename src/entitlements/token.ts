import { batch } from '../db/client'
import type { Runtime } from '../env'
import { SECOND } from '../lib/time'
import { findSigningKey, firstKeyInserted, makeSigningKey } from '../token-keys/keys'
import { type SigningKey, signClaims } from '../token-keys/signing'
import type { Entitlement } from './resolve'
import { earliest } from './window'

/** The type of a token, in its header. */
const TYP = 'entitlements+jwt'

/** What a token says. `features`: what was asked about, also what is not allowed. */
type Said = {
  issuer: string
  project: string
  consumer: { id: string; external_id: string | null }
  device: string | null
  features: readonly (readonly [key: string, entitlement: Entitlement])[]
}

/**
 * Signs a token. It ends before anything that it says can end by itself.
 *
 * @param now milliseconds
 * @param changes_at when something that is known now changes the answer (ms); null if nothing does
 * @returns the token, and when it ends (ms)
 * @throws {Fault} `encryption_key_unavailable`
 */
export async function signToken(
  { settings }: Runtime,
  key: SigningKey,
  { issuer, project, consumer, device, features }: Said,
  { now, ttl_s, changes_at }: { now: number; ttl_s: number; changes_at: number | null },
): Promise<{ token: string; expires_at: number }> {
  const allowed = features.filter(([, { allowed }]) => allowed)
  const iat = Math.floor(now / SECOND)
  const end = earliest([changes_at, ...allowed.map(([, { valid_until }]) => valid_until)])
  const exp = Math.min(iat + ttl_s, end === null ? Number.POSITIVE_INFINITY : Math.floor(end / SECOND))
  const claims = {
    iss: issuer,
    aud: project,
    sub: consumer.id,
    ...(consumer.external_id !== null && { external_id: consumer.external_id }),
    ...(device !== null && { device }),
    iat,
    exp,
    ent: Object.fromEntries(allowed.map(([feature, { value }]) => [feature, value])),
  }
  const token = await signClaims(settings.encryptionKeys, project, key, { typ: TYP, claims })
  return { token, expires_at: exp * SECOND }
}

/** Makes the first key of a project that has none. Of several at once, one is kept. @returns the key that signs */
export async function makeFirstKey(rt: Runtime, projectId: string): Promise<SigningKey> {
  const { db, now } = rt
  const made = await makeSigningKey(rt, projectId)
  const { keys } = await batch(db, {
    inserted: firstKeyInserted(db, projectId, made, now),
    keys: findSigningKey(db, projectId),
  })
  return keys[0] ?? made
}
