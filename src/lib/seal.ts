import { concat, utf8 } from './crypto'

/** Encryption keys by number: the highest encrypts, and all of them decrypt. */
export type KeyRing = ReadonlyMap<number, Uint8Array<ArrayBuffer>>

/** A secret at rest: the number of the key that encrypted it, and its nonce and AES-256-GCM ciphertext in base64. */
export type Sealed = { key: number; box: string }

const NONCE_BYTES = 12

/**
 * What a sealed secret is bound to: in another row, or under another name, it does not open.
 *
 * @param owner the id of the row that has the secret
 * @param name tells it from other secrets of that row: an id of its own, or the name of its column
 */
export function sealContext(projectId: string, owner: string, name: string): string {
  return `${projectId}:${owner}:${name}`
}

/** The number of the key that encrypts now. */
export function sealingKey(keys: KeyRing): number {
  return Math.max(...keys.keys())
}

/** Encrypts a secret. @param context bound to the ciphertext as associated data, see {@link sealContext} */
export async function seal(keys: KeyRing, secret: string, context: string): Promise<Sealed> {
  const number = sealingKey(keys)
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
  const ciphertext = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv: nonce, additionalData: utf8(context) },
    await importKey(keys, number, 'encrypt'),
    utf8(secret),
  )
  return { key: number, box: concat([nonce, new Uint8Array(ciphertext)]).toBase64() }
}

/** Decrypts a secret. @throws where the key is gone, the box was tampered with, or the context is another */
export async function unseal(keys: KeyRing, sealed: Sealed, context: string): Promise<string> {
  const bytes = Uint8Array.fromBase64(sealed.box)
  const plain = await crypto.subtle.decrypt(
    { name: 'AES-GCM', iv: bytes.slice(0, NONCE_BYTES), additionalData: utf8(context) },
    await importKey(keys, sealed.key, 'decrypt'),
    bytes.slice(NONCE_BYTES),
  )
  return new TextDecoder().decode(plain)
}

function importKey(keys: KeyRing, number: number, use: 'encrypt' | 'decrypt'): Promise<CryptoKey> {
  const bytes = keys.get(number)
  if (!bytes) throw new Error(`ENCRYPTION_KEY_${number} is not configured`)
  return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, [use])
}
