import type { Runtime } from '../env'
import { requireSealingKey } from '../inbox/connections/readable'
import { newSigningKey, type SigningKey } from './signing'

/**
 * Makes a key of a project that signs its tokens, sealed under the encryption key. It is not stored yet.
 *
 * @throws {Fault} `encryption_key_unavailable` if the encryption key is not the right one: what it seals would be lost later
 */
export async function makeSigningKey(rt: Runtime, projectId: string): Promise<SigningKey> {
  await requireSealingKey(rt)
  return newSigningKey(rt.settings.encryptionKeys, projectId)
}
