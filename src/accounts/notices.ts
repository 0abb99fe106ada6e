import type { Context } from 'hono'
import { batch } from '../db/client'
import { projectOf, sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { writeLog } from '../http/log'
import { deliver, deliveryOf } from '../mail/deliver'
import { keyNotice, type Notice, noticesOffMail } from '../mail/notices'
import type { Mail } from '../mail/texts'
import { findCopy } from '../projects/directory-store'
import type { User } from '../sessions/store'
import { clientOf } from './client'
import { countNotice, findUser, type NoticeOf, setNotices } from './notices-store'

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

async function send(c: Context<HttpEnv>, { user, due, counted }: Due, mail: (of: Notice) => Mail): Promise<void> {
  const rt = c.get('rt')
  if (!due) return
  if (!counted) return writeLog('warn', 'notice_limit_reached', { user_id: user.id })
  const { how, origin } = deliveryOf(c)
  await deliver(rt, mail({ email: user.email, origin, at: rt.now }), how)
}

/** Tells the user of the session that minted an API key, after the response. */
export function noticeKey(c: Context<HttpEnv>, key: { id: string; name: string }): void {
  const { directory, now, waitUntil } = c.get('rt')
  const session = sessionOf(c)
  const [userId, project_id] = [session.user_id, projectOf(session)]
  const work = async () => {
    const { counted, user, project } = await batch(directory, {
      counted: countNotice(directory, now, userId),
      user: findUser(directory, userId),
      project: findCopy(directory, project_id),
    })
    if (!user[0]) return
    const notice = { user: user[0], due: user[0].notices, counted: counted.length > 0 }
    await send(c, notice, (of) => keyNotice(of, { ...key, project_id, project: project[0]?.name ?? '' }))
  }
  waitUntil(work().catch((error) => writeLog('error', 'notice_not_sent', { user_id: userId, error: String(error) })))
}

/** Turns the notices to the user of a session on or off. @returns the user as they are now */
export async function changeNotices(c: Context<HttpEnv>, on: boolean): Promise<User | undefined> {
  const { directory, now } = c.get('rt')
  const { id: session, user_id } = sessionOf(c)
  const changed = await setNotices(directory, { user_id, session, client: clientOf(c), now }, on)
  if (changed) sendNotice(c, changed, noticesOffMail)
  return changed?.user
}
