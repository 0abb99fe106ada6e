import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../../http/answer'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { listOf, pageFields, paging } from '../../http/page'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { body, query } from '../../http/validate'
import { requireFound } from '../../lib/fault'
import { HOUR } from '../../lib/time'
import { REMOVED_KEPT_FOR } from '../diagnoses/limits'
import { addSigningSecret, changeConnection, connect } from './connect'
import { deleteConnection, findConnection, listConnections } from './connection'
import { CreateBody, RemoveSecretQuery, SecretBody, UpdateConnectionBody } from './fields'
import { MAX_CONNECTIONS, MAX_RELEASED } from './limits'
import { ConnectionShown, presentConnection } from './present'
import { removeSecret } from './secrets'

const tag = 'Billing connections'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'connections:read', project: true, reads: true } as const
const mayWrite = { actors, scope: 'connections:write', project: true } as const

export const connectionRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'createConnection',
      summary: 'Connect a billing vendor',
      description: `The response has the ingest address to give the vendor. If the vendor shows its signing secret only once it has this address, leave out \`signing_secret\` and add it with \`POST …/secrets\`. A project can have ${MAX_CONNECTIONS} connections.`,
      tag,
      policy: mayWrite,
      responses: { 201: { description: 'The connection.', schema: ConnectionShown } },
      faults: ['connection_limit_reached', 'encryption_key_unavailable'],
      repeated: async (c, { object_id }) => answer(c, await shown(c, object_id), 201),
    }),
    body(CreateBody),
    async (c) => {
      const rt = c.get('rt')
      const project = projectOf(c.get('actor'))
      const row = await connect(rt, project, c.req.valid('json'), changeOf(c))
      return answer(c, presentConnection(c, row), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listConnections',
      summary: 'List the connections',
      description: 'Newest first.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of connections.', schema: listOf(ConnectionShown) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const project = projectOf(c.get('actor'))
      const list = paging('connections', c.req.valid('query'))
      const { rows } = await read(c, { rows: listConnections(c.get('rt').db, project, list.before, list.take) })
      return answer(
        c,
        list.page(rows, (row) => presentConnection(c, row)),
        200,
      )
    },
  )
  .get(
    '/:id',
    route({
      id: 'getConnection',
      summary: 'Read a connection',
      description: 'Signing secrets are shown only by their hints.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'The connection.', schema: ConnectionShown } },
      faults: ['not_found'],
    }),
    async (c) => answer(c, await shown(c, c.req.param('id')), 200),
  )
  .patch(
    '/:id',
    route({
      id: 'updateConnection',
      summary: 'Rename, pause, disable or enable a connection',
      description: `A disabled connection answers deliveries with 403, and the vendor retries them. Enabling a connection takes a second. After that, every delivery is accepted, wherever it arrives. A paused connection accepts deliveries and holds their events: none is processed. When the status changes, the events are released, oldest first, up to ${MAX_RELEASED.toLocaleString('en')} a minute for all projects of the database.`,
      tag,
      policy: mayWrite,
      responses: { 200: { description: 'The connection.', schema: ConnectionShown } },
      faults: ['not_found', 'api_key_other_mode'],
    }),
    body(UpdateConnectionBody),
    async (c) => {
      const connection = { project_id: projectOf(c.get('actor')), id: c.req.param('id') }
      const row = await changeConnection(c.get('rt'), connection, c.req.valid('json'), changeOf(c))
      return answer(c, presentConnection(c, row), 200)
    },
  )
  .delete(
    '/:id',
    route({
      id: 'deleteConnection',
      summary: 'Delete a connection',
      description:
        'Its address answers 404 from then on, and its secrets and the vendor’s API key are deleted. Recorded events stay.',
      tag,
      policy: { ...mayWrite, ends: true },
      responses: { 204: { description: 'Deleted.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      await deleteConnection(c.get('rt').db, projectOf(c.get('actor')), c.req.param('id'), changeOf(c))
      return answer(c, null, 204)
    },
  )
  .post(
    '/:id/secrets',
    route({
      id: 'addSigningSecret',
      summary: 'Add a signing secret',
      description:
        'The call takes a second. After that, the secret works for every delivery, wherever it arrives. To rotate a secret, add the new one, switch the vendor to it, and remove the old one once it is no longer used.',
      tag,
      policy: mayWrite,
      responses: { 201: { description: 'The connection.', schema: ConnectionShown } },
      faults: ['not_found', 'secret_exists', 'secret_limit_reached', 'encryption_key_unavailable'],
      repeated: async (c, { object_id }) => answer(c, await shown(c, object_id), 201),
    }),
    body(SecretBody),
    async (c) => {
      const { signing_secret } = c.req.valid('json')
      const connection = { project_id: projectOf(c.get('actor')), id: c.req.param('id') }
      const row = await addSigningSecret(c.get('rt'), connection, signing_secret, changeOf(c))
      return answer(c, presentConnection(c, row), 201)
    },
  )
  .delete(
    '/:id/secrets/:secret_id',
    route({
      id: 'removeSigningSecret',
      summary: 'Remove a signing secret',
      description: `The secret stops working at once. A connection without secrets refuses every delivery. An encrypted copy of the secret is kept for ${REMOVED_KEPT_FOR / HOUR} hours. The copy verifies no delivery. It only shows that a refused delivery was signed with this secret.`,
      tag,
      policy: { ...mayWrite, ends: true },
      responses: { 204: { description: 'Removed.' } },
      faults: ['not_found'],
    }),
    query(RemoveSecretQuery),
    async (c) => {
      const { id, secret_id } = c.req.param()
      const connection = { project_id: projectOf(c.get('actor')), id }
      await removeSecret(c.get('rt').db, connection, { secret_id, ...c.req.valid('query') }, changeOf(c))
      return answer(c, null, 204)
    },
  )

async function shown(c: Context<HttpEnv>, id: string) {
  const { rows } = await read(c, { rows: findConnection(c.get('rt').db, projectOf(c.get('actor')), id) })
  return presentConnection(c, requireFound(rows, 'Connection'))
}
