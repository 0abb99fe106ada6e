import { type Context, Hono } from 'hono'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { addSigningSecret, connect } from '../../../inbox/connections/connect'
import { CreateBody, SecretBody, UpdateBody } from '../../../inbox/connections/fields'
import { removeSecret } from '../../../inbox/connections/secrets-store'
import { deleteConnection, listConnections, readConnection, updateConnection } from '../../../inbox/connections/store'
import { pageOf } from '../../list'
import { mistakesOf, page, parse } from '../../page'
import { projectPaths } from '../../paths'
import { connectionPage, connectPage, deletePage, listPage, removeSecretPage } from './views'

/** Connections of billing vendors and their signing secrets. */
export const connectionPages = new Hono<HttpEnv>()
  .get('/', page('connections:read'), async (c) => {
    const read = (before: string | null, limit: number) =>
      listConnections(c.get('rt').db, projectOf(c.get('actor')), before, limit)
    return listPage(c, await pageOf(c, 'connections', read))
  })
  .get('/new', page('connections:write'), (c) => connectPage(c, { vendor: 'stripe', name: '', livemode: 'false' }))
  .post('/', page('connections:write'), async (c) => {
    const project = projectOf(c.get('actor'))
    const entered = Object.fromEntries(c.get('form'))
    const { vendor = '', name = '', livemode = '', signing_secret } = entered
    try {
      const fields = parse(CreateBody, { vendor, name, livemode: livemode === 'true', signing_secret })
      const { id } = await connect(c.get('rt'), project, fields, changeOf(c))
      return c.redirect(`${projectPaths(project).connections}/${id}`, 303)
    } catch (error) {
      const { mistakes, status } = mistakesOf(error)
      return connectPage(c, { vendor, name, livemode }, mistakes, status)
    }
  })
  .get('/:id', page('connections:read'), async (c) => connectionPage(c, await read(c)))
  .post('/:id', page('connections:write'), async (c) => {
    const form = Object.fromEntries(c.get('form'))
    try {
      const changes = parse(UpdateBody, { name: form.name, status: form.status })
      await updateConnection(c.get('rt').db, addressed(c), changes, changeOf(c))
      return back(c, 'connection_updated')
    } catch (error) {
      const { mistakes, status } = mistakesOf(error)
      return connectionPage(c, await read(c), mistakes, status)
    }
  })
  .get('/:id/delete', page('connections:write'), async (c) => deletePage(c, await read(c)))
  .post('/:id/delete', page('connections:write'), async (c) => {
    const project = projectOf(c.get('actor'))
    await deleteConnection(c.get('rt').db, project, c.req.param('id') ?? '', changeOf(c))
    return c.redirect(`${projectPaths(project).connections}?done=connection_deleted`, 303)
  })
  .post('/:id/secrets', page('connections:write'), async (c) => {
    try {
      const { signing_secret } = parse(SecretBody, { signing_secret: c.get('form').get('signing_secret') })
      await addSigningSecret(c.get('rt'), addressed(c), signing_secret, changeOf(c))
      return back(c, 'secret_added')
    } catch (error) {
      const { mistakes, status } = mistakesOf(error)
      return connectionPage(c, await read(c), mistakes, status)
    }
  })
  .get('/:id/secrets/:secret/remove', page('connections:write'), async (c) =>
    removeSecretPage(c, await read(c), c.req.param('secret') ?? ''),
  )
  .post('/:id/secrets/:secret/remove', page('connections:write'), async (c) => {
    await removeSecret(c.get('rt').db, addressed(c), c.req.param('secret') ?? '', changeOf(c))
    return back(c, 'secret_removed')
  })

/** The connection that the path names. */
function addressed(c: Context<HttpEnv>) {
  return { project_id: projectOf(c.get('actor')), id: c.req.param('id') ?? '' }
}

function read(c: Context<HttpEnv>) {
  const { project_id, id } = addressed(c)
  return readConnection(c.get('rt').db, project_id, id)
}

function back(c: Context<HttpEnv>, done: string): Response {
  const { connections } = projectPaths(projectOf(c.get('actor')))
  return c.redirect(`${connections}/${c.req.param('id')}?done=${done}`, 303)
}
