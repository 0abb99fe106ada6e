import type { Context } from 'hono'
import type * as z from 'zod'
import { type Directory, run } from '../db/client'
import type { Actor } from '../http/actor'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { ourHosts, WORKERS_DEV } from '../http/our-hosts'
import { requireScopes } from '../http/policy'
import { overLimit } from '../http/rate-limit'
import { Fault, requireFound } from '../lib/fault'
import { SECOND } from '../lib/time'
import { isAwake, scopeDormant } from '../tenancy/people'
import { insertDomain } from './add'
import { check, writeChecked } from './check'
import { claimDomain } from './claim'
import { type Domain, findDomain } from './domain'
import type { AddBody } from './fields'
import { VERIFY_EVERY } from './limits'
import { requireHostname } from './names'
import { releaseDomain } from './release'

/**
 * Checks a domain at once. A failed one is tried again, with a new record.
 *
 * @returns the domain as it is then
 * @throws {Fault} `not_found`, `insufficient_scope`, `insufficient_role`, `domain_released`, `rate_limited`, `hostname_in_use`
 */
export async function verifyDomain(c: Context<HttpEnv>, id: string): Promise<Domain> {
  const rt = c.get('rt')
  const actor = c.get('actor')
  const of = { project_id: projectOf(actor), id, mayChangeSso: await mayChangeSso(rt.directory, actor) }
  const { claimed, retried, rows, holders } = await claimDomain(rt.directory, of, changeOf(c))
  const row = requireFound(rows, 'Domain')
  requirePurpose(actor, row, of.mayChangeSso)
  if (row.state === 'released') throw new Fault('domain_released', `The domain ${row.id} was deleted. Add it again.`)
  if (retried.length > 0) return row
  if (claimed.length === 0) throw tooSoon(row, rt.now)
  const checked = await check(rt, row, holders)
  const { rows: written, held } = await writeChecked(rt, [checked], changeOf(c))
  if (held || checked.inUse) throw hostnameInUse(row.hostname)
  // Whoever has changed it meanwhile was first: then their result counts.
  return written[0] ?? requireFound(await run(rt.directory, findDomain(rt.directory, row.project_id, row.id)), 'Domain')
}

function tooSoon({ checked_at }: Domain, now: number): Fault {
  const seconds = Math.max(1, Math.ceil(((checked_at ?? now) + VERIFY_EVERY - now) / SECOND))
  const limit = { name: 'domain_check', requests: 1, window: VERIFY_EVERY / SECOND }
  return overLimit(limit, `The domain was checked a moment ago. Wait ${seconds} seconds and try again.`, seconds)
}

/**
 * Adds a domain to the caller's project.
 *
 * @throws {Fault} `insufficient_scope`, `insufficient_role`, `validation_failed`, `domain_exists`, `domain_limit_reached`
 */
export async function addDomain(c: Context<HttpEnv>, sent: z.infer<typeof AddBody>): Promise<Domain> {
  const { directory, settings } = c.get('rt')
  const actor = c.get('actor')
  const { purpose } = sent
  requirePurpose(actor, sent, purpose === 'sso' && (await mayChangeSso(directory, actor)))
  const hostname = await requireHostname(sent.hostname, [
    ...ourHosts(settings),
    WORKERS_DEV,
    new URL(c.req.url).hostname,
  ])
  return insertDomain(directory, projectOf(actor), { hostname, purpose }, changeOf(c))
}

/**
 * Deletes a domain of the caller's project. A deleted one stays as it is.
 *
 * @throws {Fault} `not_found`, `insufficient_scope`, `insufficient_role`, `domain_enforced`
 */
export async function removeDomain(c: Context<HttpEnv>, id: string): Promise<void> {
  const { directory } = c.get('rt')
  const actor = c.get('actor')
  const of = { project_id: projectOf(actor), id, mayChangeSso: await mayChangeSso(directory, actor) }
  const { rows, needed } = await releaseDomain(directory, of, changeOf(c))
  const row = requireFound(rows, 'Domain')
  requirePurpose(actor, row, of.mayChangeSso)
  if (row.state === 'released') return
  throw new Fault(
    'domain_enforced',
    `The team must sign in through the connection ${needed[0]?.connection_id}, which uses this domain.`,
  )
}

/** A caller needs this scope in addition, because single sign-on trusts what the domain proves. */
const FOR_SSO = 'sso:write'

/** Whether the caller may change domains for single sign-on. */
async function mayChangeSso(directory: Directory, actor: Actor): Promise<boolean> {
  return actor.scopes.includes(FOR_SSO) && (await isAwake(directory, actor, FOR_SSO))
}

/** @throws {Fault} 403 if the caller may not change domains of this purpose */
function requirePurpose(actor: Actor, { purpose }: Pick<Domain, 'purpose'>, mayChangeSso: boolean): void {
  if (purpose !== 'sso' || mayChangeSso) return
  requireScopes(actor, [FOR_SSO])
  throw scopeDormant(FOR_SSO)
}

/** For a name that another project holds, whose record is still there. */
function hostnameInUse(hostname: string): Fault {
  return new Fault(
    'hostname_in_use',
    `Your record was found, but another project serves ${hostname}, and its record is still there. Remove the other project’s record, and check again.`,
  )
}
