import type { Context } from 'hono'
import { run } from '../db/client'
import type { HttpEnv } from '../http/context'
import { writeLog } from '../http/log'
import { deliver, deliveryOf } from '../mail/deliver'
import { findCopy } from '../tenancy/project'
import { type Invitation, noteMail } from './invitations-store'
import { MAX_SEND_ERROR } from './limits'
import { invitationMail } from './mails'

/**
 * Sends the email of an invitation after the response, and records the outcome in the invitation. A failure is logged
 * too.
 */
export function mailInvitation(c: Context<HttpEnv>, invitation: Invitation): void {
  const rt = c.get('rt')
  const { how, origin } = deliveryOf(c)
  const { project_id, id, email, role, expires_at, sends: number } = invitation
  const send = async () => {
    const [project] = await run(rt.directory, findCopy(rt.directory, project_id))
    const link = origin && `${origin}/console/invitations/${id}`
    await deliver(rt, invitationMail({ email, project: project?.name ?? '', role, expires_at, link }), how)
  }
  const note = (error: string | null) => noteMail(rt.directory, { project_id, id, number }, error, Date.now())
  const sent = send().then(
    () => note(null),
    async (error) => {
      const reason = error instanceof Error ? error.message : String(error)
      writeLog('error', 'invitation_not_sent', { project_id, invitation_id: id, error: reason })
      await note(reason.slice(0, MAX_SEND_ERROR))
    },
  )
  rt.waitUntil(
    sent.catch((error) => writeLog('warn', 'invitation_mail_not_noted', { invitation_id: id, error: String(error) })),
  )
}
