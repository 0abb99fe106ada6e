import type { Context } from 'hono'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { Fault, requireFound } from '../lib/fault'
import { mayChangeSso, requirePurpose } from './faults'
import { releaseDomain } from './release-store'

/**
 * Deletes a domain of the caller's project. A deleted one stays as it is.
 *
 * @throws {Fault} `not_found`, `insufficient_scope`, `insufficient_role`, `domain_enforced`
 */
export async function removeDomain(c: Context<HttpEnv>, id: string): Promise<void> {
  const actor = c.get('actor')
  const of = { project_id: projectOf(actor), id, mayChangeSso: mayChangeSso(actor) }
  const { rows, needed } = await releaseDomain(c.get('rt').directory, of, changeOf(c))
  const row = requireFound(rows, 'Domain')
  requirePurpose(actor, row)
  if (row.state === 'released') return
  throw new Fault(
    'domain_enforced',
    `The team must sign in through the connection ${needed[0]?.connection_id}, which uses this domain.`,
  )
}
