import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { MINUTE } from '../lib/time'
import { CODE_TTL } from './limits'

/**
 * A sign-in message. `link` opens a page with a button, because mail scanners open links. It is null if the deployment
 * does not know its address: the code alone signs in too.
 */
export type SignInMail = { email: string; code: string; link: string | null }

/**
 * Delivers a sign-in code through the send_email binding, or prints it in the terminal of the local server. It runs
 * after the response, so that the response time does not show whether the address is known. A failure is logged.
 */
export async function deliver(rt: Runtime, mail: SignInMail, how: 'email' | 'log'): Promise<void> {
  if (how === 'log') {
    console.log(`\n  Sign-in code for ${mail.email}: ${mail.code}\n  or open ${mail.link}\n`)
    return
  }
  const link = mail.link === null ? '' : `Or open ${mail.link}\n\n`
  try {
    if (!rt.email) throw new Error('no send_email binding is configured')
    await rt.email.send({
      from: rt.settings.emailFrom,
      to: mail.email,
      subject: `${mail.code} is your sign-in code`,
      text: `Your sign-in code is ${mail.code}. It expires in ${CODE_TTL / MINUTE} minutes.\n\n${link}If you did not request this code, ignore this message.\n`,
    })
  } catch (error) {
    writeLog('error', 'sign_in_code_not_sent', { error: error instanceof Error ? error.message : String(error) })
  }
}
