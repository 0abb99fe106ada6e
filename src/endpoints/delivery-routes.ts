import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { DELIVERY_STATES } from '../followers/schema'
import { answer } from '../http/answer'
import { changeOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { listOf, pageFields, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { notFound, requireFound } from '../lib/fault'
import { findResend, listDeliveries, listRuns } from './deliveries'
import { AttemptRun, Delivery, presentDelivery, presentResend, presentRun, Resend, ResendBody } from './delivery-fields'
import { findEndpoint } from './endpoint'
import { endpointOf } from './named'
import { resendOne, resendRange } from './resend'
import { sendTest } from './test-send'

const tag = 'Webhooks out'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'webhooks:read', project: true, reads: true } as const
const mayWrite = { actors, scope: 'webhooks:write', project: true } as const

const inRange = z.strictObject({
  ...pageFields,
  state: z.enum(DELIVERY_STATES).optional().meta({ id: 'WebhookDeliveryState' }).describe('Only those in this state.'),
})
const resendable = {
  tag,
  policy: mayWrite,
  responses: { 202: { description: 'It will be sent.', schema: Resend } },
} as const

export const deliveryRoutes = new Hono<HttpEnv>()
  .post(
    '/:id/test',
    route({
      id: 'testWebhookEndpoint',
      summary: 'Send a sample to a webhook endpoint',
      description:
        'Sends `webhook_endpoint.test` now, also to an endpoint that is disabled, and answers what came of it. A project can send 6 a minute.',
      tag,
      policy: mayWrite,
      responses: { 200: { description: 'The attempt.', schema: AttemptRun } },
      faults: ['not_found', 'encryption_key_unavailable'],
    }),
    async (c) => answer(c, presentRun(await sendTest(c.get('rt'), endpointOf(c, c.req.param('id')))), 200),
  )
  .get(
    '/:id/attempts',
    route({
      id: 'listWebhookAttempts',
      summary: 'List what was sent to a webhook endpoint',
      description: 'Newest first, kept for 30 days. What was sent together is one row.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of runs.', schema: listOf(AttemptRun) } },
      faults: ['not_found'],
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const { db } = c.get('rt')
      const of = endpointOf(c, c.req.param('id'))
      const list = paging(`webhook_attempts ${of.endpoint_id}`, c.req.valid('query'))
      const { rows, endpoint } = await read(c, {
        rows: listRuns(db, of, list.before, list.take),
        endpoint: findEndpoint(db, of.project_id, of.endpoint_id),
      })
      requireFound(endpoint, 'Webhook endpoint')
      return answer(c, list.page(rows, presentRun), 200)
    },
  )
  .get(
    '/:id/deliveries',
    route({
      id: 'listWebhookDeliveries',
      summary: 'List the changes that a webhook endpoint has not taken',
      description: 'The latest change first. A change that the endpoint has taken is not in this list.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of changes.', schema: listOf(Delivery) } },
      faults: ['not_found'],
    }),
    query(inRange),
    async (c) => {
      const { db } = c.get('rt')
      const of = endpointOf(c, c.req.param('id'))
      const asked = c.req.valid('query')
      const list = paging<{ seq: number }>(`webhook_deliveries ${of.endpoint_id}`, asked, ({ seq }) => String(seq))
      const { rows, endpoint } = await read(c, {
        rows: listDeliveries(db, of, { state: asked.state, before: list.before, take: list.take }),
        endpoint: findEndpoint(db, of.project_id, of.endpoint_id),
      })
      requireFound(endpoint, 'Webhook endpoint')
      return answer(c, list.page(rows, presentDelivery), 200)
    },
  )
  .post(
    '/:id/deliveries/:number/resend',
    route({
      ...resendable,
      id: 'resendWebhookDelivery',
      summary: 'Send a change to a webhook endpoint once more',
      description: 'Whether it has taken the change or not. The change keeps its `webhook-id`.',
      faults: ['not_found', 'resend_limit_reached'],
      repeated: async (c, { object_id }) => answer(c, await resent(c, c.req.param('id') ?? '', object_id), 202),
    }),
    async (c) => {
      const { id, number } = c.req.param()
      if (!/^[1-9]\d{0,14}$/.test(number)) throw notFound('Change', 'of a type that the endpoint gets')
      const row = await resendOne(c.get('rt').db, endpointOf(c, id), Number(number), changeOf(c))
      return answer(c, presentResend(row), 202)
    },
  )
  .post(
    '/:id/resend',
    route({
      ...resendable,
      id: 'resendWebhookChanges',
      summary: 'Send a range of changes to a webhook endpoint once more',
      description:
        'Every change after the first number, up to the last one, of the types of the endpoint, beside what changes meanwhile. They keep their `webhook-id`.',
      faults: ['not_found', 'resend_limit_reached'],
      repeated: async (c, { object_id }) => answer(c, await resent(c, c.req.param('id') ?? '', object_id), 202),
    }),
    body(ResendBody),
    async (c) => {
      const { types = null, ...range } = c.req.valid('json')
      const of = endpointOf(c, c.req.param('id'))
      const row = await resendRange(c.get('rt').db, of, { ...range, types }, changeOf(c))
      return answer(c, presentResend(row), 202)
    },
  )

async function resent(c: Context<HttpEnv>, endpointId: string, id: string) {
  const { rows } = await read(c, { rows: findResend(c.get('rt').db, endpointOf(c, endpointId), id) })
  return presentResend(requireFound(rows, 'Resend'))
}
