import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { timestamp } from '../../http/fields'
import { cursorBinding, listOf, pageFields, readCursor, toPage } from '../../http/page'
import { route } from '../../http/route'
import { body, query } from '../../http/validate'
import { idTime } from '../../lib/ids'
import { iso } from '../../lib/time'
import { VENDOR_NAMES } from '../../vendors'
import { addSigningSecret, CreateBody, connect, ingestUrl, SecretBody, UpdateBody } from './connect'
import {
  type ConnectionRow,
  deleteConnection,
  listConnections,
  MAX_CONNECTIONS,
  MAX_SECRETS,
  readConnection,
  removeSecret,
  updateConnection,
} from './store'

const tag = 'Billing connections'
const Connection = z
  .object({
    id: z.string(),
    vendor: z.enum(VENDOR_NAMES),
    name: z.string(),
    livemode: CreateBody.shape.livemode.unwrap(),
    status: z.enum(['active', 'disabled']),
    ingest_url: z.url().describe('The address to give the vendor.'),
    secrets: z
      .array(
        z.object({
          id: z.string(),
          hint: z.string().describe('At most the last four characters.'),
          created_at: timestamp,
          last_used_at: timestamp
            .nullable()
            .describe('When it last verified a delivery; written at most once a minute.'),
        }),
      )
      .describe(`Live signing secrets, at most ${MAX_SECRETS}: a delivery may be signed with any of them.`),
    last_received_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Connection' })
const actors = ['session', 'api_key'] as const
const read = { actors, scope: 'connections:read', project: true } as const
const write = { actors, scope: 'connections:write', project: true } as const

export const connectionRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'createConnection',
      summary: 'Connect a billing vendor',
      description: `Answers with the ingest address to give the vendor. A project has at most ${MAX_CONNECTIONS} connections.`,
      tag,
      policy: write,
      responses: { 201: { description: 'The connection.', schema: Connection } },
      faults: ['connection_limit_reached'],
    }),
    body(CreateBody),
    async (c) => {
      const rt = c.get('rt')
      const project = projectOf(c.get('actor'))
      const row = await connect(rt, project, c.req.valid('json'), changeOf(c))
      return c.json(present(c, row), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listConnections',
      summary: 'List the connections',
      tag,
      policy: read,
      responses: { 200: { description: 'A page of connections.', schema: listOf(Connection) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const { limit, cursor } = c.req.valid('query')
      const binding = cursorBinding('connections')
      const project = projectOf(c.get('actor'))
      const rows = await listConnections(c.get('rt').db, project, readCursor(binding, cursor), limit + 1)
      return c.json(
        toPage(
          rows,
          limit,
          binding,
          (row) => row.id,
          (row) => present(c, row),
        ),
        200,
      )
    },
  )
  .get(
    '/:id',
    route({
      id: 'getConnection',
      summary: 'Read a connection',
      tag,
      policy: read,
      responses: { 200: { description: 'The connection.', schema: Connection } },
      faults: ['not_found'],
    }),
    async (c) => {
      return c.json(present(c, await readConnection(c.get('rt').db, projectOf(c.get('actor')), c.req.param('id'))), 200)
    },
  )
  .patch(
    '/:id',
    route({
      id: 'updateConnection',
      summary: 'Rename, disable or enable a connection',
      description: 'A disabled connection refuses deliveries with 403; the vendor retries them.',
      tag,
      policy: write,
      responses: { 200: { description: 'The connection.', schema: Connection } },
      faults: ['not_found'],
    }),
    body(UpdateBody),
    async (c) => {
      const project = projectOf(c.get('actor'))
      const row = await updateConnection(c.get('rt').db, project, c.req.param('id'), c.req.valid('json'), changeOf(c))
      return c.json(present(c, row), 200)
    },
  )
  .delete(
    '/:id',
    route({
      id: 'deleteConnection',
      summary: 'Delete a connection',
      description: 'Its address answers 404 from then on, and its secrets are forgotten. Recorded events stay.',
      tag,
      policy: write,
      responses: { 204: { description: 'Deleted.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      await deleteConnection(c.get('rt').db, projectOf(c.get('actor')), c.req.param('id'), changeOf(c))
      return c.body(null, 204)
    },
  )
  .post(
    '/:id/secrets',
    route({
      id: 'addSigningSecret',
      summary: 'Add a signing secret',
      description: 'To rotate: add the new one, let the vendor switch, remove the old one once it is no longer used.',
      tag,
      policy: write,
      responses: { 201: { description: 'The connection.', schema: Connection } },
      faults: ['not_found', 'secret_exists', 'secret_limit_reached'],
    }),
    body(SecretBody),
    async (c) => {
      const project = projectOf(c.get('actor'))
      const { signing_secret } = c.req.valid('json')
      const row = await addSigningSecret(c.get('rt'), project, c.req.param('id'), signing_secret, changeOf(c))
      return c.json(present(c, row), 201)
    },
  )
  .delete(
    '/:id/secrets/:secret_id',
    route({
      id: 'removeSigningSecret',
      summary: 'Remove a signing secret',
      description: 'It stops working at once. Without any secret the connection refuses every delivery.',
      tag,
      policy: write,
      responses: { 204: { description: 'Removed.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      const { id, secret_id } = c.req.param()
      await removeSecret(c.get('rt').db, projectOf(c.get('actor')), id, secret_id, changeOf(c))
      return c.body(null, 204)
    },
  )

function present(c: Context<HttpEnv>, row: ConnectionRow) {
  return {
    id: row.id,
    vendor: row.vendor as (typeof VENDOR_NAMES)[number],
    name: row.name,
    livemode: row.livemode === 1,
    status: row.status,
    ingest_url: ingestUrl(c.req.url, row.id),
    secrets: row.secrets.map(({ id, hint, created_at }) => ({
      id,
      hint,
      created_at: iso(created_at),
      last_used_at: row.secrets_used[id] === undefined ? null : iso(row.secrets_used[id]),
    })),
    last_received_at: row.last_event_id === null ? null : iso(idTime(row.last_event_id)),
    created_at: iso(row.created_at),
  }
}
