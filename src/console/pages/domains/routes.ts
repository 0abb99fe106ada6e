import { type Context, Hono } from 'hono'
import { run } from '../../../db/client'
import { addDomain } from '../../../domains/add'
import { AddBody } from '../../../domains/fields'
import { removeDomain } from '../../../domains/remove'
import { type Domain, findDomain } from '../../../domains/store'
import { verifyDomain } from '../../../domains/verify'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { Fault, requireFound } from '../../../lib/fault'
import type { FaultName } from '../../../lib/faults'
import { parse, refusalOf } from '../../form'
import { page, pathsOf } from '../../page'
import { deletePage, domainPage } from './domain'
import { listPage } from './list'

/** The domains of a project: list, add, look at, check, delete. */
export const domainPages = new Hono<HttpEnv>()
  .get('/', page('domains:read'), (c) => listPage(c))
  .post('/', page('domains:write'), async (c) => {
    const form = c.get('form')
    const entered = { hostname: (form.get('hostname') ?? '').trim(), purpose: form.get('purpose') ?? '' }
    try {
      const { id } = await addDomain(c, parse(AddBody, entered))
      return c.redirect(`${pathsOf(c).domains}/${id}?done=domain_added`, 303)
    } catch (error) {
      const detail = detailOf(error, ['domain_exists'])
      return listPage(c, detail ? { mistakes: { hostname: detail }, status: 409 } : refusalOf(error), entered)
    }
  })
  .get('/:domain', page('domains:read'), async (c) => domainPage(c, await readDomain(c)))
  .post('/:domain/verify', page('domains:write'), async (c) => {
    try {
      const { id } = await verifyDomain(c, c.req.param('domain'))
      return c.redirect(`${pathsOf(c).domains}/${id}?done=domain_checked`, 303)
    } catch (error) {
      const detail = detailOf(error, ['hostname_in_use', 'domain_released', 'rate_limited'])
      if (!detail) throw error
      return domainPage(c, await readDomain(c), detail)
    }
  })
  .get('/:domain/delete', page('domains:write'), async (c) => deletePage(c, await readDomain(c)))
  .post('/:domain/delete', page('domains:write'), async (c) => {
    try {
      await removeDomain(c, c.req.param('domain'))
      return c.redirect(`${pathsOf(c).domains}?done=domain_deleted`, 303)
    } catch (error) {
      const detail = detailOf(error, ['domain_enforced'])
      if (!detail) throw error
      return deletePage(c, await readDomain(c), detail)
    }
  })

async function readDomain(c: Context<HttpEnv>): Promise<Domain> {
  const { directory } = c.get('rt')
  const id = c.req.param('domain') ?? ''
  return requireFound(await run(directory, findDomain(directory, projectOf(c.get('actor')), id)), 'Domain')
}

/** What a refusal says, if it is one of these. */
function detailOf(error: unknown, faults: readonly FaultName[]): string | undefined {
  return error instanceof Fault && faults.includes(error.fault) ? error.detail : undefined
}
