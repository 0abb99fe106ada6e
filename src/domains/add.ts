import { and, eq, ne, sql } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Directory } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { keptWith } from '../idempotency/claim'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'
import { type Domain, domainEntry, findDomain } from './domain'
import { MAX_DOMAINS } from './limits'
import { newRecordToken } from './names'
import { domains, type Purpose } from './schema'
import { begun } from './step'

/**
 * Adds a domain to a project.
 *
 * @throws {Fault} `domain_exists`, `domain_limit_reached`
 */
export async function insertDomain(
  directory: Directory,
  project_id: string,
  { hostname, purpose }: { hostname: string; purpose: Purpose },
  change: Change,
): Promise<Domain> {
  const { now } = change
  const row = {
    ...begun(now),
    project_id,
    id: newId('dom', now),
    hostname,
    purpose,
    token: newRecordToken(),
    created_by: change.actor.id,
    created_at: now,
    version: 1,
  }
  const live = and(eq(domains.project_id, project_id), ne(domains.state, sql`'released'`))
  const twin = directory
    .select({ id: domains.id })
    .from(domains)
    .where(and(live, eq(domains.purpose, purpose), eq(domains.hostname, hostname)))
  // The index has no released ones, of which there may be many more.
  const count = sql`(SELECT count(*) FROM ${domains} INDEXED BY domains_name WHERE ${live})`
  const room = sql`${count} < ${MAX_DOMAINS}`
  const { before, added } = await batch(directory, {
    before: twin,
    ...audited(
      directory,
      change,
      { project_id, ...domainEntry(row.id, 'domain.added'), details: { hostname, purpose } },
      insertWhere(directory, domains, row, sql`NOT EXISTS ${twin} AND ${room}`),
    ),
    ...keptWith(directory, change, row.id),
    added: findDomain(directory, project_id, row.id),
  })
  if (before[0]) {
    throw new Fault('domain_exists', `The project already has this name for this purpose: ${before[0].id}.`)
  }
  if (!added[0]) throw new Fault('domain_limit_reached', `The project has ${MAX_DOMAINS} domains. Delete one first.`)
  return added[0]
}
