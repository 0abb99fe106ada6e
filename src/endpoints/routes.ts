import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { listOf, pageFields, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { requireFound } from '../lib/fault'
import { deleteEndpoint } from './change'
import { findEndpoint, listEndpoints } from './endpoint'
import { CreateEndpoint, EndpointShown, EndpointWithSecret, presentEndpoint, UpdateEndpoint } from './fields'
import { MAX_ENDPOINT_SECRETS, MAX_ENDPOINTS } from './limits'
import { endpointOf } from './named'
import { changeEndpoint, makeEndpoint } from './permitted'
import { addEndpointSecret, removeEndpointSecret } from './secrets'

const tag = 'Webhooks out'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'webhooks:read', project: true, reads: true } as const
const mayWrite = { actors, scope: 'webhooks:write', project: true } as const

export const endpointRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'createWebhookEndpoint',
      summary: 'Create a webhook endpoint',
      description: `Sends every later change of these types to your server, signed in the format of https://www.standardwebhooks.com/. You need the scope of each type. The response has the secret, which is shown only once. A project can have ${MAX_ENDPOINTS} endpoints.`,
      tag,
      policy: mayWrite,
      responses: { 201: { description: 'The endpoint and its secret.', schema: EndpointWithSecret } },
      faults: ['endpoint_limit_reached', 'encryption_key_unavailable', 'insufficient_scope', 'insufficient_role'],
      repeated: async (c, { object_id }) => answer(c, { endpoint: await shown(c, object_id), secret: null }, 201),
    }),
    body(CreateEndpoint),
    async (c) => {
      const { row, secret } = await makeEndpoint(c, c.req.valid('json'))
      return answer(c, { endpoint: presentEndpoint(row, c.get('rt').now), secret }, 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listWebhookEndpoints',
      summary: 'List the webhook endpoints',
      description: 'Newest first.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of endpoints.', schema: listOf(EndpointShown) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const { db, now } = c.get('rt')
      const list = paging('webhook_endpoints', c.req.valid('query'))
      const rows = listEndpoints(db, projectOf(c.get('actor')), list.before, list.take)
      const page = list.page((await read(c, { rows })).rows, (row) => presentEndpoint(row, now))
      return answer(c, page, 200)
    },
  )
  .get(
    '/:id',
    route({
      id: 'getWebhookEndpoint',
      summary: 'Read a webhook endpoint',
      description: 'With its state and its position in the feed. Of each secret, only a hint is shown.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'The endpoint.', schema: EndpointShown } },
      faults: ['not_found'],
    }),
    async (c) => answer(c, await shown(c, c.req.param('id')), 200),
  )
  .patch(
    '/:id',
    route({
      id: 'updateWebhookEndpoint',
      summary: 'Change, disable or enable a webhook endpoint',
      description:
        'You need the scope of each type that the endpoint has after the change, unless you only disable it. An endpoint that you enable continues where it stopped. If the changes after that are no longer kept, it first gets `feed.gap`.',
      tag,
      policy: mayWrite,
      responses: { 200: { description: 'The endpoint.', schema: EndpointShown } },
      faults: ['not_found', 'insufficient_scope', 'insufficient_role'],
    }),
    body(UpdateEndpoint),
    async (c) => {
      const row = await changeEndpoint(c, c.req.param('id'), c.req.valid('json'))
      return answer(c, presentEndpoint(row, c.get('rt').now), 200)
    },
  )
  .delete(
    '/:id',
    route({
      id: 'deleteWebhookEndpoint',
      summary: 'Delete a webhook endpoint',
      description: 'Nothing more is sent to it. Its secrets are deleted immediately, and its log within an hour.',
      tag,
      policy: { ...mayWrite, ends: true },
      responses: { 204: { description: 'Deleted.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      await deleteEndpoint(c.get('rt').db, endpointOf(c, c.req.param('id')), changeOf(c))
      return answer(c, null, 204)
    },
  )
  .post(
    '/:id/secrets',
    route({
      id: 'addWebhookSecret',
      summary: 'Add a secret to a webhook endpoint',
      description: `From now on, requests are signed with each secret. To rotate, add a secret, let your server accept both, and remove the old one. An endpoint has 1 to ${MAX_ENDPOINT_SECRETS} secrets. The new one is shown only in this response.`,
      tag,
      policy: mayWrite,
      responses: { 201: { description: 'The endpoint and its new secret.', schema: EndpointWithSecret } },
      faults: ['not_found', 'secret_limit_reached', 'encryption_key_unavailable'],
      repeated: async (c, { object_id }) => answer(c, { endpoint: await shown(c, object_id), secret: null }, 201),
    }),
    async (c) => {
      const rt = c.get('rt')
      const { row, secret } = await addEndpointSecret(rt, endpointOf(c, c.req.param('id')), changeOf(c))
      return answer(c, { endpoint: presentEndpoint(row, rt.now), secret }, 201)
    },
  )
  .delete(
    '/:id/secrets/:secret_id',
    route({
      id: 'removeWebhookSecret',
      summary: 'Remove a secret of a webhook endpoint',
      description: 'From now on, requests are not signed with it.',
      tag,
      policy: { ...mayWrite, ends: true },
      responses: { 204: { description: 'Removed.' } },
      faults: ['not_found', 'last_secret'],
    }),
    async (c) => {
      const { id, secret_id } = c.req.param()
      await removeEndpointSecret(c.get('rt').db, endpointOf(c, id), secret_id, changeOf(c))
      return answer(c, null, 204)
    },
  )

async function shown(c: Context<HttpEnv>, id: string) {
  const { db, now } = c.get('rt')
  const { rows } = await read(c, { rows: findEndpoint(db, projectOf(c.get('actor')), id) })
  return presentEndpoint(requireFound(rows, 'Webhook endpoint'), now)
}
