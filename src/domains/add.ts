import type { Context } from 'hono'
import type * as z from 'zod'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { ourHosts, WORKERS_DEV } from '../http/our-hosts'
import { insertDomain } from './add-store'
import { requirePurpose } from './faults'
import type { AddBody } from './fields'
import { requireHostname } from './names'
import type { Domain } from './store'

/**
 * Adds a domain to the caller's project.
 *
 * @throws {Fault} `insufficient_scope`, `insufficient_role`, `validation_failed`, `domain_exists`, `domain_limit_reached`
 */
export async function addDomain(c: Context<HttpEnv>, sent: z.infer<typeof AddBody>): Promise<Domain> {
  const { directory, settings } = c.get('rt')
  const actor = c.get('actor')
  const { purpose } = sent
  requirePurpose(actor, { purpose })
  const hostname = requireHostname(sent.hostname, [...ourHosts(settings), WORKERS_DEV, new URL(c.req.url).hostname])
  return insertDomain(directory, projectOf(actor), { hostname, purpose }, changeOf(c))
}
