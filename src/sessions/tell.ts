import type { Context } from 'hono'
import { clientOf } from '../accounts/by'
import { bypassNotice } from '../accounts/security-mails'
import { askedBy } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { writeLog } from '../http/log'
import { deliver, deliveryOf } from '../mail/deliver'
import { type Bypassed, recordBypass } from './bypass'

/**
 * Notes that a user with break-glass access has signed in without the single sign-on of projects: in their audit logs, before
 * anybody gets the new session, and by email to their owners, after the response.
 */
export async function noteBypass(
  c: Context<HttpEnv>,
  user: { id: string; email: string },
  bypassed: readonly Bypassed[],
): Promise<void> {
  if (bypassed.length === 0) return
  const rt = c.get('rt')
  const change = {
    actor: { type: 'user' as const, id: user.id },
    ...askedBy(c),
    now: rt.now,
  }
  const owners = await recordBypass(
    rt.directory,
    bypassed.map(({ id }) => id),
    user.id,
    change,
  )
  const { how, origin } = deliveryOf(c)
  const nameOf = new Map(bypassed.map(({ id, name }) => [id, name]))
  const mails = owners.map(({ email, project_id }) =>
    bypassNotice(
      { email, origin, at: rt.now },
      { by: user.email, project_id, project: nameOf.get(project_id) ?? '' },
      clientOf(c),
    ),
  )
  rt.waitUntil(
    Promise.all(mails.map((mail) => deliver(rt, mail, how))).catch((error) =>
      writeLog('error', 'notice_not_sent', { user_id: user.id, error: String(error) }),
    ),
  )
}
