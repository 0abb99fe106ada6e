import { type Context, Hono } from 'hono'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { addSigningSecret, changeConnection, connect } from '../../../inbox/connections/connect'
import { deleteConnection, readConnection } from '../../../inbox/connections/connection'
import { CreateBody, SecretBody, UpdateBody } from '../../../inbox/connections/fields'
import { removeSecret } from '../../../inbox/connections/secrets'
import { vendorOf } from '../../../vendors'
import { readList } from '../../list'
import { page, pathsOf } from '../../page'
import { parse, type Refusal, refusalOf } from '../../refusal'
import { vendorTitle } from '../../ui/vendor-titles'
import { choosePage } from './choose'
import { deletePage, disablePage, removeSecretPage } from './confirm'
import { connectPage } from './connect'
import { connectionPage } from './connection'
import { listPage } from './list'
import { addressed, readArrivals, readListed, readShown } from './read'
import { suggestedSecret } from './suggest'
import { FirstDelivery, seenOf } from './waiting'

/** The mode in a form. There is no default: without a choice, the form asks. */
const MODES: Record<string, boolean> = { true: true, false: false }

/** Connections to billing vendors, with their signing secrets. */
export const connectionPages = new Hono<HttpEnv>()
  .get('/', page('connections:read'), async (c) => {
    const read = (before: string | null, limit: number) => readListed(c, before, limit)
    return listPage(c, await readList(c, 'connections', read))
  })
  .get('/new', page('connections:write'), (c) => {
    const vendor = c.req.query('vendor') ?? ''
    return vendorOf(vendor) ? connectPage(c, { vendor, name: vendorTitle(vendor), livemode: '' }) : choosePage(c)
  })
  .post('/', page('connections:write'), async (c) => {
    const { vendor = '', name = '', livemode = '' } = Object.fromEntries(c.get('form'))
    try {
      const fields = parse(CreateBody, { vendor, name, livemode: MODES[livemode] })
      const { id } = await connect(c.get('rt'), projectOf(c.get('actor')), fields, changeOf(c))
      return c.redirect(`${pathsOf(c).connections}/${id}`, 303)
    } catch (error) {
      return connectPage(c, { vendor, name, livemode }, refusalOf(error))
    }
  })
  .get('/:id', page('connections:read'), async (c) => shown(c))
  .get('/:id/first', page('connections:read'), async (c) => {
    const of = await readArrivals(c)
    if (c.req.query('seen') === seenOf(of)) return c.body(null, 204)
    return c.html(FirstDelivery({ c, of, fresh: true }))
  })
  .post('/:id', page('connections:write'), async (c) => {
    const { name, status, livemode = '' } = Object.fromEntries(c.get('form'))
    try {
      const changes = parse(UpdateBody, { name, status, livemode: MODES[livemode] })
      await changeConnection(c.get('rt'), addressed(c), changes, changeOf(c))
      return back(c, 'connection_updated')
    } catch (error) {
      return shown(c, refusalOf(error), name)
    }
  })
  .get('/:id/disable', page('connections:write'), async (c) => disablePage(c, await find(c)))
  .get('/:id/delete', page('connections:write'), async (c) => deletePage(c, await find(c)))
  .post('/:id/delete', page('connections:write'), async (c) => {
    await deleteConnection(c.get('rt').db, projectOf(c.get('actor')), c.req.param('id') ?? '', changeOf(c))
    return c.redirect(`${pathsOf(c).connections}?done=connection_deleted`, 303)
  })
  .post('/:id/secrets', page('connections:write'), async (c) => {
    try {
      // A line break or space that was copied along is not part of a secret.
      const { signing_secret } = parse(SecretBody, { signing_secret: c.get('form').get('signing_secret')?.trim() })
      await addSigningSecret(c.get('rt'), addressed(c), signing_secret, changeOf(c))
      return back(c, 'secret_added')
    } catch (error) {
      return shown(c, refusalOf(error))
    }
  })
  .get('/:id/secrets/:secret/remove', page('connections:write'), async (c) =>
    removeSecretPage(c, await find(c), c.req.param('secret') ?? ''),
  )
  .post('/:id/secrets/:secret/remove', page('connections:write'), async (c) => {
    await removeSecret(c.get('rt').db, addressed(c), c.req.param('secret') ?? '', changeOf(c))
    return back(c, 'secret_removed')
  })

function find(c: Context<HttpEnv>) {
  const { project_id, id } = addressed(c)
  return readConnection(c.get('rt').db, project_id, id)
}

/** The page of the connection. @param entered the name in its form */
async function shown(c: Context<HttpEnv>, refusal?: Refusal, entered?: string) {
  const of = await readShown(c)
  return connectionPage(c, { ...of, suggested: await suggestedSecret(c.get('rt'), of.row) }, refusal, entered)
}

function back(c: Context<HttpEnv>, done: string): Response {
  const { connections } = pathsOf(c)
  return c.redirect(`${connections}/${c.req.param('id')}?done=${done}`, 303)
}
