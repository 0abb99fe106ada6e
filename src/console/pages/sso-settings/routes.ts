import { type Context, Hono } from 'hono'
import { batch, run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { ERRORS, type FaultName } from '../../../lib/faults'
import { breakGlassOwners } from '../../../members/store'
import {
  changeConnection,
  createConnection,
  removeConnection,
  requireConnection,
  switchConnection,
} from '../../../sso/connections/change'
import { ChangeBody, CreateBody } from '../../../sso/connections/fields'
import { findConnection, listConnections, offeredDomains } from '../../../sso/connections/store'
import { parse, type Refusal, refusalOf } from '../../form'
import { readList } from '../../list'
import { page, pathsOf } from '../../page'
import { userOf } from '../../session'
import type { NoticeName } from '../../ui/notice'
import { deletePage, disablePage, enforcePage, releasePage } from './confirm'
import { connectionPage } from './connection'
import { createPage } from './create'
import { changesIn, fieldsIn } from './entered'
import { listPage } from './list'
import { preparePage } from './prepare'

/** The single sign-on connections of a project. */
export const ssoSettingsPages = new Hono<HttpEnv>()
  .get('/', page('sso:read'), async (c) => {
    const { directory } = c.get('rt')
    const read = (before: string | null, take: number) =>
      run(directory, listConnections(directory, projectOf(c.get('actor')), before, take))
    return listPage(c, await readList(c, 'sso-connections', read))
  })
  .get('/new', page('sso:write'), async (c) => createPage(c, await domainsOf(c)))
  .post('/', page('sso:write'), async (c) => {
    try {
      const fields = parse(CreateBody, fieldsIn(c.get('form')))
      const { id } = await createConnection(c.get('rt'), projectOf(c.get('actor')), fields, changeOf(c))
      return c.redirect(`${pathsOf(c).sso}/${id}?done=sso_created`, 303)
    } catch (error) {
      return createPage(c, await domainsOf(c), c.get('form'), refusedBecause(error))
    }
  })
  .get('/:id', page('sso:read'), (c) => shown(c))
  .post('/:id', page('sso:write'), async (c) => {
    try {
      const changed = changesIn(c.get('form'))
      if (Object.keys(changed).length === 0) return done(c, 'sso_unchanged')
      const changes = parse(ChangeBody, changed)
      await changeConnection(c.get('rt'), userOf(c), addressed(c), changes, changeOf(c))
      return done(c, 'sso_updated')
    } catch (error) {
      return shown(c, refusedBecause(error), c.get('form'))
    }
  })
  .post('/:id/activate', page('sso:write'), (c) =>
    changing(c, 'sso_activated', () => switchConnection(c.get('rt'), addressed(c), true, changeOf(c))),
  )
  .get('/:id/disable', page('sso:write'), async (c) => disablePage(c, await find(c)))
  .post('/:id/disable', page('sso:write'), (c) =>
    changing(c, 'sso_disabled', () => switchConnection(c.get('rt'), addressed(c), false, changeOf(c))),
  )
  .get('/:id/enforce', page('sso:write'), async (c) => {
    const { directory } = c.get('rt')
    const { project_id, id } = addressed(c)
    const { rows, owners } = await batch(directory, {
      rows: findConnection(directory, project_id, id),
      owners: breakGlassOwners(directory, project_id),
    })
    const row = requireConnection(rows[0])
    if (row.enforced) return releasePage(c, row)
    const ready = { glass: owners.length > 0, own: userOf(c).sso?.connection_id === row.id }
    if (!ready.glass || !ready.own) return preparePage(c, row, ready)
    return enforcePage(
      c,
      row,
      owners.map(({ email }) => email),
    )
  })
  .post('/:id/enforce', page('sso:write'), (c) => {
    const enforce = c.get('form').get('enforce') === 'true'
    return changing(c, enforce ? 'sso_enforced' : 'sso_released', () =>
      changeConnection(c.get('rt'), userOf(c), addressed(c), { enforce }, changeOf(c)),
    )
  })
  .get('/:id/delete', page('sso:write'), async (c) => deletePage(c, await find(c)))
  .post('/:id/delete', page('sso:write'), async (c) => {
    try {
      await removeConnection(c.get('rt'), addressed(c), changeOf(c))
      return c.redirect(`${pathsOf(c).sso}?done=sso_deleted`, 303)
    } catch (error) {
      return shown(c, refusedBecause(error))
    }
  })

function addressed(c: Context<HttpEnv>) {
  return { project_id: projectOf(c.get('actor')), id: c.req.param('id') ?? '' }
}

async function find(c: Context<HttpEnv>) {
  const { directory } = c.get('rt')
  const { project_id, id } = addressed(c)
  return requireConnection((await run(directory, findConnection(directory, project_id, id)))[0])
}

function domainsOf(c: Context<HttpEnv>) {
  const { directory } = c.get('rt')
  return run(directory, offeredDomains(directory, projectOf(c.get('actor'))))
}

async function shown(c: Context<HttpEnv>, refusal?: Refusal, entered?: URLSearchParams) {
  const [row, domains] = await Promise.all([find(c), domainsOf(c)])
  return connectionPage(c, { row, domains, entered }, refusal)
}

function done(c: Context<HttpEnv>, what: NoticeName): Response {
  return c.redirect(`${pathsOf(c).sso}/${c.req.param('id')}?done=${what}`, 303)
}

async function changing(c: Context<HttpEnv>, what: NoticeName, change: () => Promise<unknown>): Promise<Response> {
  try {
    await change()
    return done(c, what)
  } catch (error) {
    return shown(c, refusedBecause(error))
  }
}

/** Refusals whose usual words name calls. */
const WORDS: Partial<Record<FaultName, string>> = {
  connection_untested: 'The connection has not passed a test since the last change of its client. Test it first.',
  break_glass_missing: 'No owner has break-glass access. Give it to an owner on the “Members” page first.',
  sso_session_required: 'Sign in with this connection first. Otherwise you could lock yourself out.',
}

/** Why a form was refused: a conflict, mostly in the words of the API. @throws the error itself if the form cannot explain it */
function refusedBecause(error: unknown): Refusal {
  const conflict = error instanceof Fault && ERRORS[error.fault].status === 409
  return conflict ? { mistakes: { form: WORDS[error.fault] ?? error.detail }, status: 409 } : refusalOf(error)
}
