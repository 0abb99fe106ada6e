import { Hono } from 'hono'
import { run } from '../../../db/client'
import { listEndpoints } from '../../../endpoints/endpoint'
import { makeEndpoint } from '../../../endpoints/permitted'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { newId } from '../../../lib/ids'
import { action, leadTo } from '../../action'
import { idIn, onceOf } from '../../csrf'
import { readList } from '../../list'
import { page } from '../../page'
import { UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { endpointActions, shown } from './actions'
import { NEW_ENDPOINT, newEndpointPage } from './form'
import { listPage } from './list'
import { endpointPath } from './parts'
import { readChoosable } from './read'
import { secretPage } from './secret'

/** The form makes one endpoint, however often it is sent. */
const create = action({
  at: '/new',
  posts: '/',
  needs: 'webhooks:write',
  read: async (c) => ({
    once: await onceOf(c.get('rt'), userOf(c), newId('whe', c.get('rt').now)),
    connections: await readChoosable(c),
  }),
  ask: newEndpointPage,
  run: async (c) => {
    const form = c.get('form')
    const id = await idIn(c.get('rt'), userOf(c), form.get('once'), newId('whe', c.get('rt').now))
    const { row, secret } = await makeEndpoint(c, { ...NEW_ENDPOINT.body(form), id })
    return secret === null ? leadTo(c, endpointPath(c, id), 'endpoint_created_before') : secretPage(c, row, secret)
  },
  done: (_, response) => response,
})

/** The servers that the changes of a project are sent to. */
export const endpointPages = new Hono<HttpEnv>()
  .get('/', page('webhooks:read'), async (c) => {
    const { db } = c.get('rt')
    const read = (before: string | null, limit: number) =>
      run(db, listEndpoints(db, projectOf(c.get('actor')), before, limit))
    return listPage(c, await readList(c, 'webhook-endpoints', read))
  })
  .route('/', create)
  .get('/:id', page('webhooks:read'), (c) => shown(c, UNSENT))
  .route('/', endpointActions)
