import type { Context } from 'hono'
import { run } from '../db/client'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { overLimit } from '../http/rate-limit'
import { Fault, requireFound } from '../lib/fault'
import { SECOND } from '../lib/time'
import { check, settle } from './check'
import { claimDomain } from './claim-store'
import { hostnameInUse, mayChangeSso, requirePurpose } from './faults'
import { VERIFY_EVERY } from './limits'
import { type Domain, findDomain } from './store'

/**
 * Checks a domain at once. A failed one is tried again, with a new record.
 *
 * @returns the domain as it is then
 * @throws {Fault} `not_found`, `insufficient_scope`, `insufficient_role`, `domain_released`, `rate_limited`, `hostname_in_use`
 */
export async function verifyDomain(c: Context<HttpEnv>, id: string): Promise<Domain> {
  const rt = c.get('rt')
  const actor = c.get('actor')
  const of = { project_id: projectOf(actor), id, mayChangeSso: mayChangeSso(actor) }
  const { claimed, retried, rows, holders } = await claimDomain(rt.directory, of, changeOf(c))
  const row = requireFound(rows, 'Domain')
  requirePurpose(actor, row)
  if (row.state === 'released') throw new Fault('domain_released', `The domain ${row.id} was deleted. Add it again.`)
  if (retried.length > 0) return row
  if (claimed.length === 0) throw tooSoon(row, rt.now)
  const checked = await check(rt, row, holders)
  const { rows: written, held } = await settle(rt, [checked], changeOf(c))
  if (held || checked.inUse) throw hostnameInUse(row.hostname)
  // Whoever has changed it meanwhile was first: then their result counts.
  return written[0] ?? requireFound(await run(rt.directory, findDomain(rt.directory, row.project_id, row.id)), 'Domain')
}

function tooSoon({ checked_at }: Domain, now: number): Fault {
  const seconds = Math.max(1, Math.ceil(((checked_at ?? now) + VERIFY_EVERY - now) / SECOND))
  const limit = { name: 'domain_check', requests: 1, window: VERIFY_EVERY / SECOND }
  return overLimit(limit, `The domain was checked a moment ago. Wait ${seconds} seconds and try again.`, seconds)
}
