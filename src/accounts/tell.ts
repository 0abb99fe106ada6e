import type { Context } from 'hono'
import { sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { writeLog } from '../http/log'
import { deliver, deliveryOf } from '../mail/deliver'
import type { Mail } from '../mail/mail'
import { clientOf } from './by'
import type { User } from './schema'
import { type FactorChange, factorNotice, type Notice, noticesOffMail } from './security-mails'
import { type NoticeOf, setNotices } from './security-notices'

/** A notice to a user. `due`: whether they want it. `counted`: whether it is within the limit of the day. */
export type Due = { user: { id: string; email: string }; due: boolean; counted: boolean }

/** Sends a notice after the response. One over the limit, and a failure, are only logged. */
export function sendNotice(c: Context<HttpEnv>, notice: Due, mail: (of: Notice) => Mail): void {
  c.get('rt').waitUntil(
    send(c, notice, mail).catch((error) =>
      writeLog('error', 'notice_not_sent', { user_id: notice.user.id, error: String(error) }),
    ),
  )
}

/** Tells a user of a change that has happened, after the response. */
export function tell(c: Context<HttpEnv>, { counted, reader: [user] }: NoticeOf, mail: (of: Notice) => Mail): void {
  if (user) sendNotice(c, { user, due: user.notices, counted: counted.length > 0 }, mail)
}

export async function send(
  c: Context<HttpEnv>,
  { user, due, counted }: Due,
  mail: (of: Notice) => Mail,
): Promise<void> {
  const rt = c.get('rt')
  if (!due) return
  if (!counted) return writeLog('warn', 'notice_limit_reached', { user_id: user.id })
  const { how, origin } = deliveryOf(c)
  await deliver(rt, mail({ email: user.email, origin, at: rt.now }), how)
}

/** Turns the notices to the user of a session on or off. @returns the user as they are now */
export async function changeNotices(c: Context<HttpEnv>, on: boolean): Promise<User | undefined> {
  const { directory, now } = c.get('rt')
  const { id: session, user_id } = sessionOf(c)
  const changed = await setNotices(directory, { user_id, session, client: clientOf(c), now }, on)
  if (changed) sendNotice(c, changed, noticesOffMail)
  return changed?.user
}

/** Tells a user by email of a change of their passkeys or recovery codes. */
export function tellChange(c: Context<HttpEnv>, change: FactorChange, notice: NoticeOf): void {
  tell(c, notice, (of) => factorNotice(of, change, clientOf(c)))
}
