import type { Role } from '../lib/access'
import { iso } from '../lib/time'
import { isPlainName, type Mail } from '../mail/texts'
import { signInMail } from '../sessions/mails'

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
