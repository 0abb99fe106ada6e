import { batch } from '../db/client'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { deliver } from '../mail/deliver'
import { findCopy } from '../tenancy/project'
import { type DomainNews, domainMail } from './mails'
import type { Domain } from './store'
import { readManagers } from './told-store'

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
