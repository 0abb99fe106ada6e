import type { Context } from 'hono'
import { type Browser, browserHash, byOf, type Client, clientOf } from '../accounts/by'
import type { User } from '../accounts/schema'
import { signInNotice } from '../accounts/security-mails'
import { sendNotice } from '../accounts/tell'
import type { Runtime } from '../env'
import { addressOf } from '../http/address'
import { sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { failuresBySource } from '../http/failures'
import { writeLog } from '../http/log'
import { limit } from '../http/rate-limit'
import { sha256Hex } from '../lib/crypto'
import { Fault } from '../lib/fault'
import type { FaultName } from '../lib/faults'
import { newId } from '../lib/ids'
import { deliver, deliveryOf } from '../mail/deliver'
import type { Mail } from '../mail/mail'
import { mailboxOf, requesterOf } from './budget'
import { confirmWithCode, insertCode, openCode, redeemCode } from './codes'
import { CODE_TTL } from './limits'
import { type CodeMail, signInMail } from './mails'
import { hashCode, newCode, newSessionToken, normalizeCode, sessionEnd } from './secret'
import type { Ending, Session } from './session'
import { noteBypass } from './tell'

const TOO_MANY = 'Too many sign-in requests from this address.'

/** Counts a request for an email against the client's address: nobody has proved anything by it. @throws {Fault} `rate_limited` */
export function limitSignIn(c: Context<HttpEnv>): Promise<void> {
  return limit(c.get('rt').limits, 'sign_in', addressOf(c), TOO_MANY)
}

/** Counts a step that sends nothing and reveals nothing. A whole office takes it from one address. @throws {Fault} `rate_limited` */
export function limitSteps(c: Context<HttpEnv>): Promise<void> {
  return limit(c.get('rt').limits, 'public', addressOf(c), TOO_MANY)
}

/** What a step that proves who somebody is answers when it fails. */
const FAILED: readonly FaultName[] = ['invalid_code', 'invalid_passkey', 'invalid_recovery_code']
const failures = failuresBySource('sign_in', 'Too many failed attempts with this code or passkey.')
/** Characters of what is tried that are compared. Every id of ours has fewer. */
const MAX_TRIED = 100

/**
 * Takes a step that proves who somebody is, with a code or a passkey. Only a step that fails counts against `sign_in`, and only for
 * what was tried at this client address: otherwise one person who types wrong codes would shut out an office. The limit of
 * {@link limitSteps} counts everything that an address tries.
 *
 * @param tried the challenge of the code, the passkey, or the user whose second factor it is
 * @throws {Fault} `rate_limited`, and what the step throws
 */
export async function takeStep<T>(c: Context<HttpEnv>, tried: string, step: () => Promise<T>): Promise<T> {
  const rt = c.get('rt')
  const source = `${addressOf(c)} ${tried.slice(0, MAX_TRIED)}`
  failures.refuseBlocked(source, rt.now)
  await limitSteps(c)
  try {
    return await step()
  } catch (error) {
    if (error instanceof Fault && FAILED.includes(error.fault)) await failures.count(rt, source)
    throw error
  }
}

/**
 * Makes a sign-in code and sends it after the response. The response is the same whether the address is known or not,
 * and whether a limit keeps the code from being sent.
 *
 * @param mail makes the email: by default, one that asks to sign in
 */
export async function requestCode(
  c: Context<HttpEnv>,
  typed: string,
  mail: (of: CodeMail) => Mail = signInMail,
): Promise<{ challenge: string; expires_at: number }> {
  const rt = c.get('rt')
  const { codePepper, signUp } = rt.settings
  const email = typed.toLowerCase()
  const id = newId('chl', rt.now)
  const code = newCode()
  const expires_at = rt.now + CODE_TTL
  const [code_hash, requester] = await Promise.all([
    hashCode(codePepper, id, code),
    requesterOf(codePepper, addressOf(c)),
  ])
  const row = { id, email, mailbox: mailboxOf(email), code_hash, created_at: rt.now, expires_at }
  const { recorded, known } = await insertCode(rt.directory, row, requester)
  if (recorded && (known || signUp === 'open')) send(c, { email, challenge: id, code }, mail)
  return { challenge: id, expires_at }
}

/** Sends a code after the response. A failure is logged. */
function send(
  c: Context<HttpEnv>,
  { email, challenge, code }: { email: string; challenge: string; code: string },
  mail: (of: CodeMail) => Mail,
) {
  const rt = c.get('rt')
  const { how, origin } = deliveryOf(c)
  const link = origin && `${origin}/auth/sign-in?challenge=${challenge}&code=${code}`
  rt.waitUntil(
    deliver(rt, mail({ email, challenge, code, link }), how).catch((error) =>
      writeLog('error', 'sign_in_code_not_sent', { error: error instanceof Error ? error.message : String(error) }),
    ),
  )
}

/** A code and its challenge, as they were typed or came with a link. */
export type Redeemed = { challenge: string; code: string }

/**
 * The address that a code would sign in, without using up the code. A wrong code counts as an attempt, as in
 * {@link signIn}: otherwise this would let anyone guess.
 *
 * @throws {Fault} `invalid_code`
 */
export async function accountOf(rt: Runtime, { challenge, code }: Redeemed, client: Client): Promise<string> {
  const code_hash = await hashCode(rt.settings.codePepper, challenge, normalizeCode(code))
  const email = await openCode(rt.directory, { challenge, code_hash }, { client, now: rt.now })
  if (email === null) throw invalidCode()
  return email
}

/**
 * Opens a session with a code. The token is returned only here; only its hash is stored. It ends the older codes of the
 * address, and the session that the new one replaces in a browser. If the browser is not known, the user is told by email.
 *
 * @throws {Fault} `invalid_code`
 */
export async function signIn(
  c: Context<HttpEnv>,
  { challenge, code }: Redeemed,
  { browser, replaces = null }: { browser: Browser; replaces?: string | null },
): Promise<{ token: string; expires_at: number; user: User }> {
  const rt = c.get('rt')
  const client = clientOf(c)
  const token = newSessionToken()
  const expires_at = sessionEnd(rt.now, rt.now)
  const [code_hash, hash, from] = await Promise.all([
    hashCode(rt.settings.codePepper, challenge, normalizeCode(code)),
    sha256Hex(token),
    browserHash(rt, browser),
  ])
  const opened = await redeemCode(
    rt.directory,
    { challenge, code_hash, signUp: rt.settings.signUp, replaces, browser: from },
    { id: newId('ses', rt.now), hash, expires_at },
    { client, now: rt.now },
  )
  if (!opened) throw invalidCode()
  await noteBypass(c, opened.user, opened.bypassed)
  sendNotice(c, opened, (of) => signInNotice(of, 'code', client))
  return { token, expires_at, user: opened.user }
}

/**
 * Confirms a session with a code that was sent to the address of its user. The code is used up.
 *
 * @returns the session as it is now
 * @throws {Fault} `invalid_code`, also for a code of another address
 */
export async function confirmByCode(
  rt: Runtime,
  session: { id: string; user_id: string; email: string },
  { challenge, code }: Redeemed,
  client: Client,
): Promise<Session> {
  const code_hash = await hashCode(rt.settings.codePepper, challenge, normalizeCode(code))
  const confirmed = await confirmWithCode(rt.directory, session, { challenge, code_hash }, { client, now: rt.now })
  if (!confirmed) throw invalidCode()
  return confirmed
}

function invalidCode(): Fault {
  return new Fault('invalid_code', 'The code is wrong, used or expired. Request a new one.')
}

/** The session of a request that ends sessions. */
export function endingOf(c: Context<HttpEnv>): Ending {
  const { id: session, user_id, sso } = sessionOf(c)
  return { user_id, session, sso, ...byOf(c) }
}
