import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Context } from 'hono'
import { type Browser, browserHash, byOf } from '../accounts/by'
import type { User } from '../accounts/schema'
import { signInNotice } from '../accounts/security-mails'
import { sendNotice } from '../accounts/tell'
import { run } from '../db/client'
import type { HttpEnv } from '../http/context'
import { sha256Hex } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'
import { newSessionToken, sessionEnd } from '../sessions/secret'
import { noteBypass } from '../sessions/tell'
import type { Acting } from './acting'
import type { ChallengePurpose } from './challenge'
import { invalidPasskey, verified } from './faults'
import type { UsedCredential } from './fields'
import { openWithPasskey, proveWithPasskey } from './open'
import { type Asserted, byCredential, passkeysOf } from './passkey'
import { assertionOptions, siteOf, verifyAssertion } from './webauthn'

const SIGN_IN: ChallengePurpose = { to: 'sign_in', session: null }
const proof = (session: Acting): ChallengePurpose => ({ to: 'prove', session: session.id })

/** What a browser needs to sign in with any passkey that it has for this site. No I/O. */
export function beginSignIn(c: Context<HttpEnv>) {
  return assertionOptions(siteOf(c), SIGN_IN)
}

/**
 * What a browser needs to use one of the user's passkeys in their session.
 *
 * @throws {Fault} `not_found` if the user has none; `public_origin_missing`
 */
export async function beginProof(c: Context<HttpEnv>, session: Acting) {
  const site = siteOf(c)
  const own = await run(site.rt.directory, passkeysOf(site.rt.directory, session.user_id))
  if (own.length === 0) throw new Fault('not_found', 'You have no passkey. Add one first.')
  return assertionOptions(site, proof(session), own)
}

/**
 * Opens a session with a passkey. The token is returned only here. If the browser is not known, the user is told by email.
 *
 * @param replaces the session of this browser that the new one replaces
 * @throws {Fault} `invalid_passkey`, `public_origin_missing`
 */
export async function signInWithPasskey(
  c: Context<HttpEnv>,
  credential: UsedCredential,
  { browser, replaces = null }: { browser: Browser; replaces?: string | null },
): Promise<{ token: string; expires_at: number; user: User }> {
  const rt = c.get('rt')
  const { directory, now } = rt
  const by = byOf(c)
  const asserted = await assertedBy(c, SIGN_IN, credential)
  const token = newSessionToken()
  const expires_at = sessionEnd(now, now)
  const session = { id: newId('ses', now), hash: await sha256Hex(token), expires_at }
  const from = await browserHash(rt, browser)
  const opened = await openWithPasskey(directory, asserted, { session, replaces, browser: from }, by)
  if (!opened) throw invalidPasskey()
  await noteBypass(c, opened.user, opened.bypassed)
  sendNotice(c, opened, (of) => signInNotice(of, 'passkey', by.client))
  return { token, expires_at, user: opened.user }
}

/**
 * Uses a passkey of the user as the second factor of their session.
 *
 * @throws {Fault} `invalid_passkey`, also for a passkey of another user; `public_origin_missing`
 */
export async function provePasskey(c: Context<HttpEnv>, session: Acting, credential: UsedCredential): Promise<void> {
  const asserted = await assertedBy(c, proof(session), credential)
  if (!(await proveWithPasskey(c.get('rt').directory, session, asserted, byOf(c)))) throw invalidPasskey()
}

/** The passkey that a credential was made with, verified. @throws {Fault} `invalid_passkey` */
async function assertedBy(
  c: Context<HttpEnv>,
  purpose: ChallengePurpose,
  credential: UsedCredential,
): Promise<Asserted> {
  const site = siteOf(c)
  const [passkey] = await run(site.rt.directory, byCredential(site.rt.directory, credential.id))
  if (!passkey) throw invalidPasskey()
  const facts = await verified(c, invalidPasskey, () =>
    verifyAssertion(site, purpose, passkey, credential as AuthenticationResponseJSON),
  )
  return { passkey, ...facts }
}
