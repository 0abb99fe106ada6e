import { batch } from '../db/client'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { deliver } from '../mail/deliver'
import { domainLostMail } from '../mail/domains'
import { findCopy } from '../projects/directory-store'
import type { Domain } from './store'
import { readManagers } from './told-store'

/** Tells the owners and admins of projects that another project has proven their domain. It is sent after the response. */
export function tellLosers(rt: Runtime, losers: readonly Domain[]): void {
  for (const loser of losers) {
    const { project_id, id } = loser
    const work = tell(rt, loser).catch((error) =>
      writeLog('error', 'domain_mail_not_sent', { project_id, domain_id: id, error: String(error) }),
    )
    rt.waitUntil(work)
  }
}

async function tell(rt: Runtime, { project_id, id, hostname, purpose }: Domain): Promise<void> {
  const { directory, settings, now } = rt
  const { managers, project } = await batch(directory, {
    managers: readManagers(directory, project_id),
    project: findCopy(directory, project_id),
  })
  const origin = settings.publicOrigin
  const link = origin && `${origin}/console/p/${project_id}/platform/settings/domains/${id}`
  const lost = { hostname, purpose, project: project[0]?.name ?? '', link, at: now }
  const sent = await Promise.allSettled(
    managers.map(({ email }) => deliver(rt, domainLostMail({ ...lost, email }), settings.signInDelivery)),
  )
  const refused = sent.find((one) => one.status === 'rejected')
  if (refused) throw refused.reason
}
