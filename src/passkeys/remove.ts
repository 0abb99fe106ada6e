import type { Runtime } from '../env'
import { Fault } from '../lib/fault'
import { factorRequired } from './faults'
import { type Acting, deletePasskey } from './store'

/**
 * Deletes one of the user's passkeys.
 *
 * @throws {Fault} `not_found`; `passkey_required` if the session has no second factor
 */
export async function removePasskey({ directory }: Runtime, session: Acting, id: string): Promise<void> {
  const { existed, gone } = await deletePasskey(directory, session, id)
  if (!existed) throw passkeyNotFound()
  if (!gone) throw factorRequired()
}

export function passkeyNotFound(): Fault {
  return new Fault('not_found', 'Passkey not found among your passkeys.')
}
