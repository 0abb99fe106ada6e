import type { Role } from '../lib/access'
import { iso, MINUTE } from '../lib/time'
import { CODE_TTL } from '../sessions/limits'

/** An email in plain text. `printed`: what the terminal of a local server shows instead. */
export type Mail = { to: string; subject: string; text: string; printed: string }

/** A code with its challenge and its address. `link` is null if the deployment does not know its address. */
export type CodeMail = { email: string; challenge: string; code: string; link: string | null }

/**
 * The email with a sign-in code. The link opens a page with a button, because email scanners open links. The code alone
 * signs in too.
 */
export function signInMail({ email, code, link }: CodeMail): Mail {
  const open = link === null ? '' : `Or open ${link}\n\n`
  return {
    to: email,
    subject: `${code} is your sign-in code`,
    text: `Your sign-in code is ${code}. It expires in ${CODE_TTL / MINUTE} minutes.\n\n${open}If you did not request this code, ignore this message.\n`,
    printed: `Sign-in code for ${email}: ${code}\n  or open ${link}`,
  }
}

/** The email with a code that confirms a session. It has no link: the code is entered where it was requested. */
export function confirmationMail({ email, challenge, code }: CodeMail): Mail {
  return {
    to: email,
    subject: `${code} is your confirmation code`,
    text: `Your confirmation code is ${code}. It expires in ${CODE_TTL / MINUTE} minutes.\n\nEnter it on the page that asked for it, to confirm that it is you.\n\nIf you did not request this code, somebody else is signed in as you: sign in and choose “Sign out everywhere”. Do not give the code to anyone.\n`,
    printed: `Confirmation code for ${email}: ${code} (${challenge})`,
  }
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

/**
 * Whether an email may show the name of a project, which anyone can choose. Email programs turn addresses into links,
 * even those without a scheme. Browsers take the full stops of other scripts and fonts for dots: NFKC makes dots of them.
 */
export function isPlainName(name: string): boolean {
  return !/:\/\/|www\.|\S[.。]\S/i.test(name.normalize('NFKC'))
}
