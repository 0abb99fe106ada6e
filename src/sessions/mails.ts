import { MINUTE } from '../lib/time'
import type { Mail } from '../mail/mail'
import { CODE_TTL } from './limits'

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
    text: `Your confirmation code is ${code}. It expires in ${CODE_TTL / MINUTE} minutes.\n\nEnter it on the page that asked for it, to confirm that it is you.\n\nIf you did not request this code, someone else is signed in as you: sign in and choose “Sign out everywhere”. Do not give the code to anyone.\n`,
    printed: `Confirmation code for ${email}: ${code} (${challenge})`,
  }
}
