import { and, eq, inArray, not } from 'drizzle-orm'
import { users } from '../accounts/schema'
import { batch, type Directory } from '../db/client'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { iso } from '../lib/time'
import { deliver } from '../mail/deliver'
import { isPlainName, type Mail } from '../mail/mail'
import { findCopy, isDeleted } from '../tenancy/project'
import { members } from '../tenancy/schema'
import type { Domain } from './domain'
import { MAX_TOLD } from './limits'

/** Tells the owners and admins of a project what has happened to its domain. It is sent after the response. */
export function tellManagers(rt: Runtime, news: DomainNews, domain: Domain): void {
  const { project_id, id } = domain
  const work = tell(rt, news, domain).catch((error) =>
    writeLog('error', 'domain_mail_not_sent', { project_id, domain_id: id, news, error: String(error) }),
  )
  rt.waitUntil(work)
}

async function tell(rt: Runtime, news: DomainNews, domain: Domain): Promise<void> {
  const { project_id, id, hostname, purpose, grace_until } = domain
  const { directory, settings, now } = rt
  const { managers, project } = await batch(directory, {
    managers: readManagers(directory, project_id),
    project: findCopy(directory, project_id),
  })
  const origin = settings.publicOrigin
  const link = origin && `${origin}/console/p/${project_id}/platform/settings/domains/${id}`
  const told = { hostname, purpose, project: project[0]?.name ?? '', grace_until, link, at: now }
  const sent = await Promise.allSettled(
    managers.map(({ email }) => deliver(rt, domainMail(news, { ...told, email }), settings.signInDelivery)),
  )
  const refused = sent.find((one) => one.status === 'rejected')
  if (refused) throw refused.reason
}

/** Reads the email addresses of a project's owners and admins: nobody's, if the project was deleted. */
function readManagers(directory: Directory, projectId: string) {
  return directory
    .select({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.user_id))
    .where(and(eq(members.project_id, projectId), inArray(members.role, ['owner', 'admin']), not(isDeleted(projectId))))
    .limit(MAX_TOLD)
}

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
function domainMail(news: DomainNews, { email, ...told }: Told): Mail {
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
      text: `The TXT record that proves that ${hostname} belongs to ${nameOf(project)} is missing.\n\nFor now, ${USE[purpose]} still works${until}. It then stops, unless you add the record again.\n\nTo see the record to add, ${pageOf(link)}.`,
      printed: `the record of ${hostname} is missing`,
    }
  },
  failed: ({ hostname, purpose, project, link }) => ({
    subject: `${hostname} is no longer verified`,
    text: `The TXT record that proves that ${hostname} belongs to ${nameOf(project)} is still missing.\n\n${EFFECT[purpose]}\n\nTo verify it again, ${pageOf(link)}, choose “Try again”, and add the new record.`,
    printed: `${hostname} is no longer verified`,
  }),
  taken_over: ({ hostname, purpose, project, link }) => ({
    subject: `${hostname} no longer belongs to your project`,
    text: `Another project has verified the domain ${hostname}, and the record of ${nameOf(project)} was missing.\n\n${EFFECT[purpose]}\n\nIf this is a mistake, ${pageOf(link)}, choose “Try again”, and add the new record.`,
    printed: `${hostname} was taken over by another project`,
  }),
}

function nameOf(project: string): string {
  return isPlainName(project) ? `the project “${project}”` : 'your project'
}

function pageOf(link: string | null): string {
  return link === null ? 'open the page of the domain in the console' : `open ${link}`
}
