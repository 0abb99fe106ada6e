import type { Context } from 'hono'
import { type Browser, browserHash, byOf } from '../../accounts/by'
import { signInNotice } from '../../accounts/security-mails'
import { sendNotice } from '../../accounts/tell'
import { askedBy } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { sha256Hex } from '../../lib/crypto'
import { newId } from '../../lib/ids'
import { newSessionToken, sessionEnd } from '../../sessions/secret'
import type { Finishing } from '../login/logins'
import { SignInRefused } from '../login/refused'
import { withUsableEmail } from './admission'
import { type Entering, marksOf } from './facts'
import { openWithSso } from './open'

/**
 * Opens a session of the team for somebody whom a provider has identified. The token is returned only here.
 *
 * @param replaces the session of this browser that the new one replaces
 * @param proved as in {@link Entering}
 * @throws {SignInRefused}
 */
export async function signInWithSso(
  c: Context<HttpEnv>,
  { connection, identified: said }: Finishing,
  { browser, replaces, proved }: { browser: Browser; replaces: string | null; proved: Entering['proved'] },
): Promise<string> {
  const rt = c.get('rt')
  const identified = withUsableEmail(said)
  const by = byOf(c)
  const token = newSessionToken()
  const expires_at = sessionEnd(rt.now, rt.now, true)
  const session = { id: newId('ses', rt.now), hash: await sha256Hex(token), expires_at }
  const opened = await openWithSso(rt.directory, {
    entering: { connection, identified, proved, marks: await marksOf(rt, { connection, identified }), now: rt.now },
    session,
    replaces,
    browser: await browserHash(rt, browser),
    by,
    request: askedBy(c),
  })
  if ('reason' in opened) throw new SignInRefused(opened.reason, opened.message)
  sendNotice(c, opened, (of) => signInNotice(of, 'sso', by.client))
  return token
}
