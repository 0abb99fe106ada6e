import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { listOf, pageFields, paging } from '../http/page'
import { readDirectory } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { requireFound } from '../lib/fault'
import { SECOND } from '../lib/time'
import { addDomain, removeDomain, verifyDomain } from './change'
import { findDomain, listDomains } from './domain'
import { AddBody, DomainShown, DomainStateName, PurposeName, presentDomain } from './fields'
import { MAX_DOMAINS, VERIFY_EVERY } from './limits'

const tag = 'Domains'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'domains:read', project: true, reads: true } as const
const mayWrite = { actors, scope: 'domains:write', project: true } as const
const SSO_TOO = 'For the purpose `sso`, it also requires `sso:write`.'
const ListQuery = z.strictObject({ ...pageFields, purpose: PurposeName.optional(), state: DomainStateName.optional() })

export const domainRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'addDomain',
      summary: 'Add a domain',
      description: `The response says which TXT record proves that the name is yours. The first lookup is a minute later. A project can have ${MAX_DOMAINS} domains. ${SSO_TOO}`,
      tag,
      policy: mayWrite,
      responses: { 201: { description: 'The domain, which is pending.', schema: DomainShown } },
      faults: ['daily_limit_reached', 'domain_exists', 'domain_limit_reached'],
      repeated: async (c, { object_id }) => answer(c, await shown(c, object_id), 201),
    }),
    body(AddBody),
    async (c) => {
      const row = await addDomain(c, c.req.valid('json'))
      return answer(c, presentDomain(row, c.get('rt').settings), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listDomains',
      summary: 'List the domains of the project',
      description: 'Newest first. Deleted ones are listed only if you ask for the state `released`.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of domains.', schema: listOf(DomainShown) } },
    }),
    query(ListQuery),
    async (c) => {
      const { directory, settings } = c.get('rt')
      const asked = c.req.valid('query')
      const { before, take, page } = paging('domains', asked)
      const { purpose, state } = asked
      const { rows } = await readDirectory(c, {
        rows: listDomains(directory, projectOf(c.get('actor')), { purpose, state, before, take }),
      })
      return answer(
        c,
        page(rows, (row) => presentDomain(row, settings)),
        200,
      )
    },
  )
  .get(
    '/:id',
    route({
      id: 'getDomain',
      summary: 'Get a domain',
      description: 'In any state, with what the last check saw.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'The domain.', schema: DomainShown } },
      faults: ['not_found'],
    }),
    async (c) => answer(c, await shown(c, c.req.param('id')), 200),
  )
  .post(
    '/:id/verify',
    route({
      id: 'verifyDomain',
      summary: 'Check a domain now',
      description: `Looks the record up, at most once in ${VERIFY_EVERY / SECOND} seconds. A failed domain becomes pending again, with a new record to add. ${SSO_TOO}`,
      tag,
      policy: mayWrite,
      responses: { 200: { description: 'The domain, checked just now.', schema: DomainShown } },
      faults: ['daily_limit_reached', 'not_found', 'hostname_in_use', 'domain_released'],
    }),
    async (c) => answer(c, presentDomain(await verifyDomain(c, c.req.param('id')), c.get('rt').settings), 200),
  )
  .delete(
    '/:id',
    route({
      id: 'deleteDomain',
      summary: 'Delete a domain',
      description: `The domain permanently stops having any effect. Add the name again to get a new record. Repeating the call changes nothing. ${SSO_TOO}`,
      tag,
      policy: mayWrite,
      responses: { 204: { description: 'Deleted.' } },
      faults: ['not_found', 'domain_enforced'],
    }),
    async (c) => {
      await removeDomain(c, c.req.param('id'))
      return answer(c, null, 204)
    },
  )

async function shown(c: Context<HttpEnv>, id: string) {
  const { directory, settings } = c.get('rt')
  const { rows } = await readDirectory(c, { rows: findDomain(directory, projectOf(c.get('actor')), id) })
  return presentDomain(requireFound(rows, 'Domain'), settings)
}
