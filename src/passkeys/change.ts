import type { Context } from 'hono'
import { byOf } from '../accounts/client'
import type { HttpEnv } from '../http/context'
import { notFound } from '../lib/fault'
import type { Acting } from './acting-store'
import { factorRequired } from './faults'
import { deletePasskey, type Passkey, renamePasskey } from './store'
import { tellChange } from './tell'

/** Gives one of the user's passkeys another name. @throws {Fault} `not_found` */
export async function namePasskey(c: Context<HttpEnv>, session: Acting, id: string, name: string): Promise<Passkey> {
  const passkey = await renamePasskey(c.get('rt').directory, session, id, name, byOf(c))
  if (!passkey) throw notFound('Passkey', 'among your passkeys')
  return passkey
}

/**
 * Deletes one of the user's passkeys.
 *
 * @throws {Fault} `not_found`; `passkey_required` if the session has no second factor
 */
export async function removePasskey(c: Context<HttpEnv>, session: Acting, id: string): Promise<void> {
  const { existed, gone, notice } = await deletePasskey(c.get('rt').directory, session, id, byOf(c))
  if (!existed) throw notFound('Passkey', 'among your passkeys')
  if (!gone) throw factorRequired()
  tellChange(c, 'passkey_deleted', notice)
}
