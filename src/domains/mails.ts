import { iso } from '../lib/time'
import { isPlainName, type Mail } from '../mail/texts'

/** What a project is told about one of its domains. */
export type DomainNews = 'record_missing' | 'failed' | 'taken_over'

/**
 * A domain as its emails describe it. Times in ms. `grace_until`: null unless its record is missing; `link`: null if the
 * deployment does not know its address.
 */
type Told = {
  email: string
  hostname: string
  purpose: 'sso' | 'surface'
  project: string
  grace_until: number | null
  link: string | null
  at: number
}

const USE = {
  sso: 'single sign-on for its email addresses',
  surface: 'the host',
}
const EFFECT = {
  sso: 'Single sign-on no longer works for its email addresses in your project.',
  surface: 'The host no longer serves the pages of your project.',
}

/** The email to the owners and admins of a project whose domain is about to be lost, or is. */
export function domainMail(news: DomainNews, { email, ...told }: Told): Mail {
  const { subject, text, printed } = TEXTS[news](told)
  const time = `${iso(told.at).slice(0, 16).replace('T', ' ')} UTC`
  return {
    to: email,
    subject,
    text: `${text}\n\nTime: ${time}\n\nIf you did not change the record, ask whoever manages the DNS of ${told.hostname}.\n`,
    printed: `Notice for ${email}: ${printed}`,
  }
}

type Texts = Pick<Mail, 'subject' | 'text' | 'printed'>

const TEXTS: Record<DomainNews, (told: Omit<Told, 'email'>) => Texts> = {
  record_missing: ({ hostname, purpose, project, grace_until, link }) => {
    const until = grace_until === null ? '' : ` until ${iso(grace_until).slice(0, 'YYYY-MM-DD'.length)}`
    return {
      subject: `The DNS record of ${hostname} is missing`,
      text: `The TXT record that proves that ${hostname} belongs to ${nameOf(project)} is missing.\n\nFor now, ${USE[purpose]} still works${until}. Then it stops, unless the record is back.\n\nTo see the record to set, ${pageOf(link)}.`,
      printed: `the record of ${hostname} is missing`,
    }
  },
  failed: ({ hostname, purpose, project, link }) => ({
    subject: `${hostname} is no longer verified`,
    text: `The TXT record that proves that ${hostname} belongs to ${nameOf(project)} is still missing.\n\n${EFFECT[purpose]}\n\nTo verify it again, ${pageOf(link)}, choose “Try again” and set the new record.`,
    printed: `${hostname} is no longer verified`,
  }),
  taken_over: ({ hostname, purpose, project, link }) => ({
    subject: `${hostname} no longer belongs to your project`,
    text: `Another project has proven the domain ${hostname}, and the record of ${nameOf(project)} was gone.\n\n${EFFECT[purpose]}\n\nIf this is a mistake, ${pageOf(link)}, choose “Try again” and set the new record.`,
    printed: `${hostname} was taken over by another project`,
  }),
}

function nameOf(project: string): string {
  return isPlainName(project) ? `the project “${project}”` : 'your project'
}

function pageOf(link: string | null): string {
  return link === null ? 'open the page of the domain in the console' : `open ${link}`
}
