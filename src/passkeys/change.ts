import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Context } from 'hono'
import { byOf } from '../accounts/by'
import { tellChange } from '../accounts/tell'
import { run } from '../db/client'
import type { Actor } from '../http/actor'
import type { HttpEnv } from '../http/context'
import { Fault, notFound } from '../lib/fault'
import { newId } from '../lib/ids'
import type { Acting } from './acting'
import { factorRequired, registrationRefused, verified } from './faults'
import type { RegisteredCredential } from './fields'
import { MAX_PASSKEYS } from './limits'
import { deletePasskey, insertPasskey, type Passkey, passkeysOf, renamePasskey } from './passkey'
import { hashesOf, newRecoveryCodes } from './recovery'
import { registrationOptions, siteOf, verifyRegistration } from './webauthn'

type Session = Extract<Actor, { type: 'session' }>

/**
 * What a browser needs to make a passkey for the user of the session.
 *
 * @throws {Fault} `passkey_required`, `passkey_limit_reached`, `public_origin_missing`
 */
export async function beginRegistration(c: Context<HttpEnv>, session: Session) {
  const site = siteOf(c)
  const own = await run(site.rt.directory, passkeysOf(site.rt.directory, session.user_id))
  requireRoom(session, own)
  return registrationOptions(site, session, own)
}

/**
 * Keeps a new passkey, which is the session's second factor from then on.
 *
 * @returns it, and recovery codes if the user had none
 * @throws {Fault} `registration_refused`, `passkey_required`, `passkey_exists`, `passkey_limit_reached`,
 *   `public_origin_missing`
 */
export async function finishRegistration(
  c: Context<HttpEnv>,
  session: Session,
  { name, credential }: { name: string; credential: RegisteredCredential },
): Promise<{ passkey: Passkey; codes: string[] | null }> {
  const site = siteOf(c)
  const { directory, now } = site.rt
  const { challenge, ...registered } = await verified(c, registrationRefused, () =>
    verifyRegistration(site, session.id, credential as RegistrationResponseJSON),
  )
  const passkey = {
    id: newId('psk', now),
    user_id: session.user_id,
    name,
    created_at: now,
    last_used_at: null,
    ...registered,
  }
  const codes = newRecoveryCodes()
  const hashes = await hashesOf(site.rt, session.user_id, codes)
  const done = await insertPasskey(directory, session, { passkey, challenge, codes: hashes }, byOf(c))
  if (done === 'credential_taken') throw new Fault('passkey_exists', 'This authenticator already has a passkey here.')
  if (done === null) throw registrationRefused()
  const { own, made, ...notice } = done
  if (!own.some(({ id }) => id === passkey.id)) {
    requireRoom(session, own)
    throw registrationRefused() // The session has just ended.
  }
  tellChange(c, 'passkey_added', notice)
  return { passkey, codes: made.length > 0 ? codes : null }
}

function requireRoom(session: Session, own: readonly Passkey[]): void {
  if (own.length > 0 && !session.second_factor) throw factorRequired()
  if (own.length < MAX_PASSKEYS) return
  throw new Fault(
    'passkey_limit_reached',
    `You already have ${MAX_PASSKEYS} passkeys, which is the limit. Delete one first.`,
  )
}

/** Gives one of the user's passkeys another name. @throws {Fault} `not_found` */
export async function namePasskey(c: Context<HttpEnv>, session: Acting, id: string, name: string): Promise<Passkey> {
  const passkey = await renamePasskey(c.get('rt').directory, session, { id, name }, byOf(c))
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
