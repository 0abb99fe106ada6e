import { type Context, Hono } from 'hono'
import { run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { addSigningSecret, changeConnection, connect } from '../../../inbox/connections/connect'
import { CreateBody, SecretBody, UpdateBody } from '../../../inbox/connections/fields'
import { removeSecret } from '../../../inbox/connections/secrets-store'
import { deleteConnection, listConnections, readConnection } from '../../../inbox/connections/store'
import { readTraffic } from '../../../inbox/health/traffic'
import { parse, refusalOf } from '../../form'
import { readList } from '../../list'
import { page, pathsOf } from '../../page'
import { namesOf } from '../events/store'
import { deletePage, removeSecretPage } from './confirm'
import { connectPage } from './connect'
import { connectionPage } from './connection'
import { listPage } from './list'

/** Connections to billing vendors, with their signing secrets. */
export const connectionPages = new Hono<HttpEnv>()
  .get('/', page('connections:read'), async (c) => {
    const read = (before: string | null, limit: number) =>
      run(c.get('rt').db, listConnections(c.get('rt').db, projectOf(c.get('actor')), before, limit))
    return listPage(c, await readList(c, 'connections', read))
  })
  .get('/new', page('connections:write'), (c) => connectPage(c, { vendor: 'stripe', name: '', livemode: '' }))
  .post('/', page('connections:write'), async (c) => {
    const project = projectOf(c.get('actor'))
    const entered = Object.fromEntries(c.get('form'))
    const { vendor = '', name = '', livemode = '', signing_secret } = entered
    try {
      const mode = { true: true, false: false }[livemode] // Neither is assumed: without one, the form asks.
      const fields = parse(CreateBody, { vendor, name, livemode: mode, signing_secret })
      const { id } = await connect(c.get('rt'), project, fields, changeOf(c))
      return c.redirect(`${pathsOf(c).connections}/${id}`, 303)
    } catch (error) {
      return connectPage(c, { vendor, name, livemode }, refusalOf(error))
    }
  })
  .get('/:id', page('connections:read'), async (c) => connectionPage(c, await shown(c)))
  .post('/:id', page('connections:write'), async (c) => {
    const form = Object.fromEntries(c.get('form'))
    try {
      const changes = parse(UpdateBody, { name: form.name, status: form.status })
      await changeConnection(c.get('rt'), addressed(c), changes, changeOf(c))
      return back(c, 'connection_updated')
    } catch (error) {
      return connectionPage(c, await shown(c), refusalOf(error))
    }
  })
  .get('/:id/delete', page('connections:write'), async (c) => deletePage(c, await find(c)))
  .post('/:id/delete', page('connections:write'), async (c) => {
    await deleteConnection(c.get('rt').db, projectOf(c.get('actor')), c.req.param('id') ?? '', changeOf(c))
    return c.redirect(`${pathsOf(c).connections}?done=connection_deleted`, 303)
  })
  .post('/:id/secrets', page('connections:write'), async (c) => {
    try {
      const { signing_secret } = parse(SecretBody, { signing_secret: c.get('form').get('signing_secret') })
      await addSigningSecret(c.get('rt'), addressed(c), signing_secret, changeOf(c))
      return back(c, 'secret_added')
    } catch (error) {
      return connectionPage(c, await shown(c), refusalOf(error))
    }
  })
  .get('/:id/secrets/:secret/remove', page('connections:write'), async (c) =>
    removeSecretPage(c, await find(c), c.req.param('secret') ?? ''),
  )
  .post('/:id/secrets/:secret/remove', page('connections:write'), async (c) => {
    await removeSecret(c.get('rt').db, addressed(c), c.req.param('secret') ?? '', changeOf(c))
    return back(c, 'secret_removed')
  })

/** The connection that the path names. */
function addressed(c: Context<HttpEnv>) {
  return { project_id: projectOf(c.get('actor')), id: c.req.param('id') ?? '' }
}

function find(c: Context<HttpEnv>) {
  const { project_id, id } = addressed(c)
  return readConnection(c.get('rt').db, project_id, id)
}

/** The connection, the deliveries to it in the last hour, and the names of those who added its secrets. */
async function shown(c: Context<HttpEnv>) {
  const rt = c.get('rt')
  const [row, hour] = await Promise.all([find(c), readTraffic(rt.db, addressed(c), rt.now)])
  const names = await namesOf(
    rt,
    addressed(c).project_id,
    row.secrets.flatMap(({ added_by }) => added_by ?? []),
  )
  return { row, hour, names }
}

function back(c: Context<HttpEnv>, done: string): Response {
  const { connections } = pathsOf(c)
  return c.redirect(`${connections}/${c.req.param('id')}?done=${done}`, 303)
}
