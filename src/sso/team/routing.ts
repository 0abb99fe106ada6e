import { and, eq, not, sql } from 'drizzle-orm'
import type { Directory } from '../../db/client'
import { domains } from '../../domains/schema'
import { ssoConnectionDomains, ssoConnections } from '../../identities/schema'
import { isDeleted } from '../../tenancy/project'
import { isHeld } from '../connections/connection'

/** Connections that a page offers for one domain. */
const MOST = 10

/**
 * Reads the active connections for the team that have a domain which is verified now, by issuer. Anybody can type an address,
 * so nothing of them is read but what anybody learns who follows the sign-in.
 */
export function connectionsFor(directory: Directory, domain: string) {
  return directory
    .select({ id: ssoConnections.id, issuer: ssoConnections.issuer })
    .from(domains)
    .innerJoin(
      ssoConnectionDomains,
      and(
        eq(ssoConnectionDomains.project_id, domains.project_id),
        eq(ssoConnectionDomains.domain_id, domains.id),
        eq(ssoConnectionDomains.audience, 'team'),
      ),
    )
    .innerJoin(
      ssoConnections,
      and(
        eq(ssoConnections.project_id, ssoConnectionDomains.project_id),
        eq(ssoConnections.id, ssoConnectionDomains.connection_id),
      ),
    )
    .where(
      and(
        eq(domains.hostname, domain),
        isHeld(domains),
        sql`${ssoConnections.state} = 'active'`,
        not(isDeleted(ssoConnections.project_id)),
      ),
    )
    .orderBy(ssoConnections.issuer, ssoConnections.id)
    .limit(MOST)
}
