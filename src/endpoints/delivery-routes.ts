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
import { LOG_DAYS } from './limits'
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
      summary: 'Send a test to a webhook endpoint',
      description:
        'Sends `webhook_endpoint.test` immediately, even if the endpoint is disabled, and returns the result. A project can send 6 tests a minute.',
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
      summary: 'List the attempts of a webhook endpoint',
      description: `Newest first, kept for ${LOG_DAYS} days. Attempts that were made in one run are listed together.`,
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
      summary: 'List the changes that a webhook endpoint has not accepted',
      description:
        'Newest change first. A change is `pending` if it will be sent again, and `failed` after the last attempt.',
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
      summary: 'Send a change to a webhook endpoint again',
      description: 'It is sent even if the endpoint has accepted it before. It keeps its `webhook-id`.',
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
      summary: 'Send a range of changes to a webhook endpoint again',
      description:
        'Sends every change of the endpoint’s types after the number `after`, up to and including `until`. New changes are sent at the same time. Each change keeps its `webhook-id`.',
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
