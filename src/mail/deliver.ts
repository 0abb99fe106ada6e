import type { Context } from 'hono'
import type { Runtime } from '../env'
import type { HttpEnv } from '../http/context'
import { publicOrigin } from '../http/origin'
import { isLocalhost } from '../lib/localhost'
import { SECOND } from '../lib/time'
import { within } from '../lib/within'
import type { Mail } from './mail'

/** How long the email service may take to accept an email (ms). */
export const SEND_WITHIN = 10 * SECOND

/** How email is delivered, and what the links in it begin with. `origin`: null if it is not known. */
export type Delivery = { how: 'email' | 'log'; origin: string | null }

/** An email is printed only by a local server that was started for that, and only for a request to localhost. */
export function deliveryOf(c: Context<HttpEnv>): Delivery {
  const { hostname, origin: here } = new URL(c.req.url)
  const printed = c.get('rt').settings.signInDelivery === 'log' && isLocalhost(hostname)
  // A printed link is opened on this machine, whatever the public address is.
  return printed ? { how: 'log', origin: here } : { how: 'email', origin: publicOrigin(c) }
}

/** Whether emails are printed in the terminal, because this is a local server. */
export const isPrinted = (c: Context<HttpEnv>) => deliveryOf(c).how === 'log'

/**
 * Delivers an email through the send_email binding, or prints it in the terminal of the local server. Call it after the
 * response, so that the response time says nothing about the address.
 *
 * @throws the error of the email service; an error if there is no such service, or if it does not answer in time
 */
export async function deliver(rt: Runtime, { to, subject, text, printed }: Mail, how: Delivery['how']): Promise<void> {
  if (how === 'log') {
    console.log(`\n  ${printed}\n`)
    return
  }
  if (!rt.email) throw new Error('no send_email binding is configured')
  await within(SEND_WITHIN, rt.email.send({ from: rt.settings.emailFrom, to, subject, text }))
}
