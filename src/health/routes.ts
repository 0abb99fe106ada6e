import { Hono } from 'hono'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { read } from '../http/read'
import { route } from '../http/route'
import { query } from '../http/validate'
import { Health, readHealth } from './health'
import { LagQuery, LagSeries, readLag } from './lag'

const tag = 'Billing webhooks'
const actors = ['session', 'api_key'] as const
const policy = { actors, scope: 'billing:read', project: true, reads: true } as const

export const inboxHealthRoutes = new Hono<HttpEnv>()
  .get(
    '/health',
    route({
      id: 'getWebhookHealth',
      summary: 'Get the health of the webhook pipeline',
      description: 'Cheap at any number of events: totals are kept as rows, and open events have their own index.',
      tag,
      policy,
      responses: { 200: { description: 'A snapshot.', schema: Health } },
    }),
    async (c) =>
      answer(c, await readHealth(c.get('rt'), projectOf(c.get('actor')), (queries) => read(c, queries)), 200),
  )
  .get(
    '/lag-timeseries',
    route({
      id: 'getWebhookLag',
      summary: 'Get the lag from receipt to completion over time',
      description:
        'By time of receipt, in UTC, with a point for every bucket. Percentiles cover finished events and are accurate to 1 %; `pending` counts the events that are not finished. Returns 404 for a connection that the project never had.',
      tag,
      policy,
      responses: { 200: { description: 'The series.', schema: LagSeries } },
      faults: ['not_found'],
    }),
    query(LagQuery),
    async (c) => {
      const project = projectOf(c.get('actor'))
      return answer(c, await readLag(c.get('rt'), project, c.req.valid('query'), (queries) => read(c, queries)), 200)
    },
  )
