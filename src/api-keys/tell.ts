import type { Context } from 'hono'
import { keyNotice } from '../accounts/security-mails'
import { countNotice, findUser } from '../accounts/security-notices'
import { send } from '../accounts/tell'
import { batch } from '../db/client'
import { projectOf, sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { writeLog } from '../http/log'
import { findCopy } from '../tenancy/project'

/** Tells the user of the session that minted an API key, after the response. */
export function noticeKey(c: Context<HttpEnv>, key: { id: string; name: string }): void {
  const { directory, now, waitUntil } = c.get('rt')
  const session = sessionOf(c)
  const userId = session.user_id
  const project_id = projectOf(session)
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
