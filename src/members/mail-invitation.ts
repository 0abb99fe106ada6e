import type { Context } from 'hono'
import { run } from '../db/client'
import type { HttpEnv } from '../http/context'
import { writeLog } from '../http/log'
import type { Role } from '../lib/access'
import { iso } from '../lib/time'
import { deliver, deliveryOf } from '../mail/deliver'
import { isPlainName, type Mail } from '../mail/mail'
import { signInMail } from '../sessions/mails'
import { findCopy } from '../tenancy/project'
import { type Invitation, noteMail } from './invitations'
import { MAX_SEND_ERROR } from './limits'

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

/** An invitation as its email describes it. `expires_at` in ms; `link` as in {@link signInMail}. */
type Invited = { email: string; project: string; role: Role; expires_at: number; link: string | null }

/** The email with an invitation. It contains no secret: anyone who can sign in with the address can accept. */
export function invitationMail({ email, project, role, expires_at, link }: Invited): Mail {
  const what = isPlainName(project) ? `the project “${project}”` : 'a project'
  const where = link === null ? 'Sign in to the console' : `Open ${link} and sign in`
  const until = iso(expires_at).slice(0, 'YYYY-MM-DD'.length)
  return {
    to: email,
    subject: `You are invited to ${what}`,
    text: `You are invited to ${what}. Your role will be ${role}.\n\n${where} with this address, ${email}, to accept or decline. The invitation expires on ${until}.\n\nIf you do not know who invited you, ignore this message.\n`,
    printed: `Invitation for ${email} to ${what}, as ${role}\n  open ${link}`,
  }
}
