import { Hono } from 'hono'
import * as z from 'zod'
import { consumerName } from '../../consumers/customer-fields'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { boundedListOf, pageFields } from '../../http/page'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import { answerPage } from '../events/answer'
import { Beyond, BillingEvent, view } from '../events/present'
import { searchFields } from './filters'
import { findPage } from './search'

const tag = 'Billing webhooks'
const actors = ['session', 'api_key'] as const
const policy = { actors, scope: 'billing:read', project: true } as const

const searchedConsumer = consumerName
  .optional()
  .describe(
    'A consumer: its id, or `ext:` and its external id. Events whose `customer`, in the `decoded_summary`, is linked to it now.',
  )

export const searchRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'searchWebhookEvents',
    summary: 'Search billing webhook events',
    description:
      'An event must match all filters. A page looks at a limited number of events: `truncated` means that it reached the limit before it was full, and `next_cursor` continues from there.',
    tag,
    policy,
    responses: {
      200: { description: 'A page of events.', schema: boundedListOf(BillingEvent, Beyond) },
    },
  }),
  query(z.strictObject({ ...pageFields, view, ...searchFields, consumer: searchedConsumer })),
  async (c) => {
    const { limit, cursor, view, ...fields } = c.req.valid('query')
    const page = await findPage(c.get('rt').db, projectOf(c.get('actor')), fields, { cursor, limit })
    return answerPage(c, { view, ...page }, (page) => answer(c, page, 200))
  },
)
