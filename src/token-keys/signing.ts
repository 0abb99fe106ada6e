import { base64url, utf8 } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { type KeyRing, type Sealed, seal, sealContext, unseal } from '../lib/seal'

/*
 * The keys that sign entitlement tokens, and their signatures: ES256 (RFC 7518 §3.4), by Web Crypto. No I/O.
 */

/** A public key: a point on P-256, each coordinate in base64url. */
export type PublicPoint = { x: string; y: string }

/** A key with its private part sealed. */
export type SigningKey = Sealed & { kid: string; public: PublicPoint }

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const
const ALG = 'ES256' as const
/** The column of the private key. */
const BOX = 'box'

/** Makes a key of a project. Its id is its thumbprint (RFC 7638), so two keys never have the same one. */
export async function newSigningKey(ring: KeyRing, projectId: string): Promise<SigningKey> {
  const pair = (await crypto.subtle.generateKey(CURVE, true, ['sign', 'verify'])) as CryptoKeyPair
  const { x = '', y = '', d = '' } = (await crypto.subtle.exportKey('jwk', pair.privateKey)) as JsonWebKey
  const kid = await thumbprintOf({ x, y })
  return { kid, public: { x, y }, ...(await seal(ring, d, sealContext(projectId, kid, BOX))) }
}

/** The members that RFC 7638 names, in its order. */
async function thumbprintOf({ x, y }: PublicPoint): Promise<string> {
  const text = JSON.stringify({ crv: CURVE.namedCurve, kty: 'EC', x, y })
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text))))
}

/** A key as a JWK (RFC 7517), for whoever verifies. */
export function jwkOf({ kid, public: { x, y } }: Pick<SigningKey, 'kid' | 'public'>) {
  return { kty: 'EC' as const, crv: CURVE.namedCurve, alg: ALG, use: 'sig' as const, kid, x, y }
}

/**
 * Signs claims, as a JWS in its compact form (RFC 7515).
 *
 * @param typ the type of the token, for its header
 * @throws {Fault} `encryption_key_unavailable` if no encryption key opens the private key
 */
export async function signClaims(
  ring: KeyRing,
  projectId: string,
  key: SigningKey,
  { typ, claims }: { typ: string; claims: Record<string, unknown> },
): Promise<string> {
  const signed = `${base64url(JSON.stringify({ alg: ALG, kid: key.kid, typ }))}.${base64url(JSON.stringify(claims))}`
  const { x, y } = key.public
  const jwk = { kty: 'EC', crv: CURVE.namedCurve, x, y, d: await privateOf(ring, projectId, key) }
  const imported = await crypto.subtle.importKey('jwk', jwk, CURVE, false, ['sign'])
  const signature = await crypto.subtle.sign(SIGNATURE, imported, utf8(signed))
  return `${signed}.${base64url(new Uint8Array(signature))}`
}

async function privateOf(ring: KeyRing, projectId: string, key: SigningKey): Promise<string> {
  try {
    return await unseal(ring, key, sealContext(projectId, key.kid, BOX))
  } catch (cause) {
    throw new Fault(
      'encryption_key_unavailable',
      'No encryption key can decrypt the key that signs tokens. The operator must restore the ENCRYPTION_KEY_… that encrypted it. Or rotate the key: the new one can sign.',
      { cause },
    )
  }
}

/** Seals the private key again, under the newest encryption key. @throws if no encryption key opens it */
export async function resealed(
  ring: KeyRing,
  projectId: string,
  { kid, ...sealed }: Sealed & { kid: string },
): Promise<Sealed> {
  const context = sealContext(projectId, kid, BOX)
  return seal(ring, await unseal(ring, sealed, context), context)
}
