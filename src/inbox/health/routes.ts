import { Hono } from 'hono'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import { Health, readHealth } from './health'
import { LagQuery, LagSeries, readLag } from './lag'

const tag = 'Billing webhooks'
const actors = ['session', 'api_key'] as const
const read = { actors, scope: 'billing:read', project: true } as const

export const inboxHealthRoutes = new Hono<HttpEnv>()
  .get(
    '/health',
    route({
      id: 'getWebhookHealth',
      summary: "A snapshot of the pipeline's state",
      description: 'Cheap: counts are kept as rows, and open events have an index of their own.',
      tag,
      policy: read,
      responses: { 200: { description: 'The snapshot.', schema: Health } },
    }),
    async (c) => c.json(await readHealth(c.get('rt'), projectOf(c.get('actor'))), 200),
  )
  .get(
    '/lag-timeseries',
    route({
      id: 'getWebhookLag',
      summary: 'Lag from receipt to completion, over time',
      description:
        'By time of receipt, UTC, zero-filled. `pending` is shown because percentiles of the finished hide those still waiting. Percentiles are within 1 %. 404 for a connection that the project never had.',
      tag,
      policy: read,
      responses: { 200: { description: 'The series.', schema: LagSeries } },
      faults: ['not_found'],
    }),
    query(LagQuery),
    async (c) => {
      const rt = c.get('rt')
      return c.json(await readLag(rt.db, projectOf(c.get('actor')), c.req.valid('query'), rt.now), 200)
    },
  )
