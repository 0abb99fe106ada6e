import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { isLocalhost } from '../lib/localhost'
import { MINUTE } from '../lib/time'
import { CODE_TTL } from './limits'

/** A sign-in message. `link` opens a page with a button, because mail scanners open links. */
export type SignInMail = { email: string; code: string; link: string }

/**
 * Delivers a sign-in code through the send_email binding, or prints it in the terminal of the local server. It runs
 * after the response, so that the response time does not show whether the address is known. A failure is logged.
 */
export async function deliver(rt: Runtime, host: string, mail: SignInMail): Promise<void> {
  if (rt.settings.signInDelivery === 'log' && isLocalhost(host)) {
    console.log(`\n  Sign-in code for ${mail.email}: ${mail.code}\n  or open ${mail.link}\n`)
    return
  }
  try {
    if (!rt.email) throw new Error('no send_email binding is configured')
    await rt.email.send({
      from: rt.settings.emailFrom,
      to: mail.email,
      subject: `${mail.code} is your sign-in code`,
      text: `Your sign-in code is ${mail.code}. It expires in ${CODE_TTL / MINUTE} minutes.\n\nOr open ${mail.link}\n\nIf you did not request this code, ignore this message.\n`,
    })
  } catch (error) {
    writeLog('error', 'sign_in_code_not_sent', { error: error instanceof Error ? error.message : String(error) })
  }
}
