import { Hono } from 'hono'
import { run } from '../../../db/client'
import { addDomain, removeDomain, verifyDomain } from '../../../domains/change'
import { type Domain, findDomain } from '../../../domains/domain'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { requireFound } from '../../../lib/fault'
import { toUnicode } from '../../../lib/punycode'
import { action } from '../../action'
import { page, pathsOf, type Visit } from '../../page'
import { UNSENT } from '../../refusal'
import { domainPage } from './domain'
import { DOMAIN, listPage } from './list'

const add = action({
  posts: '/',
  needs: 'domains:write',
  ask: (c, _, sent) => listPage(c, sent),
  run: (c) => addDomain(c, DOMAIN.body(c.get('form'))),
  done: (c, { id }) => [`${pathsOf(c).domains}/${id}`, 'domain_added'],
})

const verify = action({
  posts: '/:domain/verify',
  needs: 'domains:write',
  read,
  ask: domainPage,
  run: (c) => verifyDomain(c, c.req.param('domain') ?? ''),
  done: (c, { id }) => [`${pathsOf(c).domains}/${id}`, 'domain_checked'],
  explains: { rate_limited: true },
})

const remove = action({
  at: '/:domain/delete',
  needs: 'domains:write',
  read,
  ask: (c, { id, hostname, purpose }) => ({
    title: 'Delete domain',
    section: 'domains',
    above: [toUnicode(hostname), `${pathsOf(c).domains}/${id}`],
    question: `Delete ${toUnicode(hostname)}?`,
    says: (
      <p>
        {purpose === 'sso'
          ? 'Connections no longer sign in people whose email addresses are in this domain.'
          : 'The host stops serving pages of this project within a minute.'}{' '}
        You can add the name again, with a new record.
      </p>
    ),
    verb: 'Delete domain',
    danger: true,
  }),
  run: (c) => removeDomain(c, c.req.param('domain') ?? ''),
  done: (c) => [pathsOf(c).domains, 'domain_deleted'],
})

/** The domains of a project: list, add, look at, check, delete. */
export const domainPages = new Hono<HttpEnv>()
  .get('/', page('domains:read'), (c) => listPage(c, UNSENT))
  .get('/:domain', page('domains:read'), async (c) => domainPage(c, await read(c), UNSENT))
  .route('/', add)
  .route('/', verify)
  .route('/', remove)

async function read(c: Visit): Promise<Domain> {
  const { directory } = c.get('rt')
  const id = c.req.param('domain') ?? ''
  return requireFound(await run(directory, findDomain(directory, projectOf(c.get('actor')), id)), 'Domain')
}
