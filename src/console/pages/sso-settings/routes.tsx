import { Hono } from 'hono'
import { batch, run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { breakGlassOwners } from '../../../members/read'
import {
  changeSsoConnection,
  createConnection,
  removeConnection,
  requireConnection,
  requireEnforcer,
  switchConnection,
} from '../../../sso/connections/change'
import {
  findSsoConnection,
  listSsoConnections,
  offeredDomains,
  type SsoConnection,
} from '../../../sso/connections/connection'
import { ChangeBody } from '../../../sso/connections/fields'
import { action } from '../../action'
import { readList } from '../../list'
import { page, pathsOf, type Visit } from '../../page'
import { EXPLAINED, parse, type Sent, UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { stopAfter } from '../../ui/format'
import { connectionPage, createPage } from './connection'
import { preparePage } from './ends'
import { CONNECTION, changesIn } from './fields'
import { listPage } from './list'

const create = action({
  at: '/new',
  posts: '/',
  needs: 'sso:write',
  read: domainsOf,
  ask: createPage,
  run: (c) => createConnection(c.get('rt'), projectOf(c.get('actor')), CONNECTION.body(c.get('form')), changeOf(c)),
  done: (c, { id }) => [`${pathsOf(c).sso}/${id}`, 'sso_created'],
})

const change = action({
  posts: '/:id',
  needs: 'sso:write',
  ask: (c, _, sent) => shown(c, sent),
  run: async (c) => {
    const changed = changesIn(c.get('form'))
    if (Object.keys(changed).length === 0) return false
    await changeSsoConnection(c.get('rt'), changing(c), parse(ChangeBody, changed))
    return true
  },
  done: (c, changed) => [pathOf(c), changed ? 'sso_updated' : 'sso_unchanged'],
  explains: EXPLAINED.sso,
})

const activate = action({
  posts: '/:id/activate',
  needs: 'sso:write',
  // What was sent has none of the settings, which the page shows as they are stored.
  ask: (c, _, { entered: __, ...refusal }) => shown(c, refusal),
  run: (c) => switchConnection(c.get('rt'), changing(c), true),
  done: (c) => [pathOf(c), 'sso_activated'],
})

/** Enforcing names who keeps access without it, and what is left to do before. */
const enforce = action({
  at: '/:id/enforce',
  needs: 'sso:write',
  requires: (c) => requireEnforcer(userOf(c)),
  read: async (c) => {
    const { directory } = c.get('rt')
    const { project_id, id } = addressed(c)
    const { rows, owners } = await batch(directory, {
      rows: findSsoConnection(directory, project_id, id),
      owners: breakGlassOwners(directory, project_id),
    })
    return { row: requireConnection(rows[0]), owners }
  },
  ask: (c, { row, owners }, sent) => {
    if (row.enforced) return release(c, row)
    const ready = { glass: owners.length > 0, own: userOf(c).sso?.connection_id === row.id }
    if (!ready.glass || !ready.own) return preparePage(c, row, ready, sent)
    return {
      ...placed(c, row, `Enforce “${row.name}”?`),
      says: (
        <>
          <p>
            Members must then sign in with {row.name}
            {stopAfter(row.name)} Their other sessions can no longer open this project. API keys keep working.
          </p>
          <p>
            These owners have break-glass access, and can also sign in with a code or a passkey:{' '}
            <strong>{owners.map(({ email }) => email).join(', ')}</strong>.
          </p>
        </>
      ),
      choice: <input type="hidden" name="enforce" value="true" />,
      verb: 'Enforce',
    }
  },
  run: async (c) => {
    const enforce = c.get('form').get('enforce') === 'true'
    await changeSsoConnection(c.get('rt'), changing(c), { enforce })
    return enforce
  },
  done: (c, enforced) => [pathOf(c), enforced ? 'sso_enforced' : 'sso_released'],
  explains: EXPLAINED.sso,
})

function release(c: Visit, row: SsoConnection) {
  return {
    ...placed(c, row, `Stop enforcing “${row.name}”?`),
    says: <p>Members can then sign in with a code or a passkey again.</p>,
    choice: <input type="hidden" name="enforce" value="false" />,
    verb: 'Stop enforcing',
  }
}

const disable = action({
  at: '/:id/disable',
  needs: 'sso:write',
  counted: { ends: true },
  read: find,
  ask: (c, row) => ({
    ...placed(c, row, `Disable “${row.name}”?`),
    says: (
      <p>
        Nobody can sign in with it until you activate it again.{' '}
        {row.audience === 'team' && ' Its sessions end immediately.'}
      </p>
    ),
    verb: 'Disable connection',
    danger: true,
  }),
  run: (c) => switchConnection(c.get('rt'), changing(c), false),
  done: (c) => [pathOf(c), 'sso_disabled'],
})

const remove = action({
  at: '/:id/delete',
  needs: 'sso:write',
  counted: { ends: true },
  read: find,
  ask: (c, row) => ({
    ...placed(c, row, `Delete “${row.name}”?`),
    says: (
      <p>
        Nobody will be able to sign in with it{row.audience === 'team' && ', and its sessions end immediately'}. Its
        client secret is deleted. Members and consumers stay.
      </p>
    ),
    verb: 'Delete connection',
    danger: true,
  }),
  run: (c) => removeConnection(c.get('rt'), addressed(c), changeOf(c)),
  done: (c) => [pathsOf(c).sso, 'sso_deleted'],
})

/** The single sign-on connections of a project. */
export const ssoSettingsPages = new Hono<HttpEnv>()
  .get('/', page('sso:read'), async (c) => {
    const { directory } = c.get('rt')
    const read = (before: string | null, take: number) =>
      run(directory, listSsoConnections(directory, projectOf(c.get('actor')), before, take))
    return listPage(c, await readList(c, 'sso-connections', read))
  })
  .route('/', create)
  .get('/:id', page('sso:read'), (c) => shown(c, UNSENT))
  .route('/', change)
  .route('/', activate)
  .route('/', enforce)
  .route('/', disable)
  .route('/', remove)

/** Where a question about a connection stands. */
function placed(c: Visit, row: SsoConnection, title: string) {
  return { title, section: 'sso', above: [row.name, `${pathsOf(c).sso}/${row.id}`] } as const
}

const pathOf = (c: Visit) => `${pathsOf(c).sso}/${c.req.param('id')}`

function addressed(c: Visit) {
  return { project_id: projectOf(c.get('actor')), id: c.req.param('id') ?? '' }
}

function changing(c: Visit) {
  return { actor: userOf(c), of: addressed(c), change: changeOf(c) }
}

async function find(c: Visit) {
  const { directory } = c.get('rt')
  const { project_id, id } = addressed(c)
  return requireConnection((await run(directory, findSsoConnection(directory, project_id, id)))[0])
}

function domainsOf(c: Visit) {
  const { directory } = c.get('rt')
  return run(directory, offeredDomains(directory, projectOf(c.get('actor'))))
}

async function shown(c: Visit, sent: Sent) {
  const [row, domains] = await Promise.all([find(c), domainsOf(c)])
  return connectionPage(c, { row, domains }, sent)
}
