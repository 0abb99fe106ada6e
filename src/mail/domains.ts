import { iso } from '../lib/time'
import { isPlainName, type Mail } from './texts'

/** A domain that a project has lost. `at` in ms; `link`: null if the deployment does not know its address. */
type Lost = {
  email: string
  hostname: string
  purpose: 'sso' | 'surface'
  project: string
  link: string | null
  at: number
}

const EFFECT = {
  sso: 'Single sign-on no longer works for its email addresses in your project.',
  surface: 'The host no longer serves the pages of your project.',
}

/** The email to the owners and admins of a project whose domain another project has proven. */
export function domainLostMail({ email, hostname, purpose, project, link, at }: Lost): Mail {
  const where = isPlainName(project) ? `the project “${project}”` : 'your project'
  const open = link === null ? 'open the page of the domain in the console' : `open ${link}`
  return {
    to: email,
    subject: `${hostname} no longer belongs to your project`,
    text: `Another project has proven the domain ${hostname}, and the record of ${where} was gone.\n\n${EFFECT[purpose]}\n\nTime: ${iso(at).slice(0, 16).replace('T', ' ')} UTC\n\nIf this is a mistake, ${open}, choose “Try again” and set the new record. Ask whoever manages the DNS of ${hostname} who changed it.\n`,
    printed: `Notice for ${email}: ${hostname} was taken over by another project`,
  }
}
