import { Hono } from 'hono'
import * as z from 'zod'
import { PreviewPlanBody, planFieldsOf } from '../catalog/fields'
import type { Queries } from '../db/client'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { count, named } from '../http/fields'
import { read } from '../http/read'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { body } from '../http/validate'
import { MAX_CHANGES, MAX_WALKED } from './limits'
import { previewPlan } from './preview'

const byFeature = z.record(z.string(), count)

export const PlanPreview = named(
  'PlanPreview',
  z.object({
    examined: count.describe(
      'Subscriptions and purchases that this call looked at, and live grants of the plan. Of the default plan, also consumers.',
    ),
    affected: count.describe('Consumers for whom something changes.'),
    gains: byFeature.describe('How many consumers get a feature, or more of it, by the key of the feature.'),
    losses: byFeature.describe('How many consumers lose a feature, or get less of it, by the key of the feature.'),
    reductions: byFeature.describe('How many of the consumers in `losses` keep some of the feature.'),
    changes: z
      .array(
        z.object({
          consumer: z.string().describe('The id of the consumer.'),
          vendor: z.string().nullable().describe('Null if the consumer has the plan by a grant alone, or by default.'),
          customer: z
            .string()
            .nullable()
            .describe(
              "The vendor's id of the customer with the subscription or the purchase; null if the consumer has the plan by a grant alone, or by default.",
            ),
          feature: z.string().describe('The key of the feature.'),
          from: z.unknown().describe('The value now.'),
          to: z.unknown().describe('The value after the change.'),
        }),
      )
      .describe(`Up to ${MAX_CHANGES} of the changes.`),
    has_more: z.boolean().describe('Whether there are more subscriptions, purchases, grants or consumers to look at.'),
    next_cursor: z
      .string()
      .nullable()
      .describe(
        'Pass it as `cursor`, with the same change, to continue. Each consumer is counted in only one of the calls, so add the numbers up.',
      ),
  }),
  {
    examined: 120,
    affected: 1,
    gains: { seats: 1 },
    losses: {},
    reductions: {},
    changes: [
      {
        consumer: SAMPLE.consumer,
        vendor: 'stripe',
        customer: SAMPLE.customer,
        feature: 'seats',
        from: 5,
        to: 10,
      },
    ],
    has_more: false,
    next_cursor: null,
  },
)

export const previewRoutes = new Hono<HttpEnv>().post(
  '/:id/preview',
  route({
    id: 'previewPlan',
    summary: 'Preview a change of a plan',
    description: `Who would gain and who would lose by a change of a plan. It takes the fields of the change, and writes nothing. One call looks at up to ${MAX_WALKED} subscriptions, and as many purchases, grants and, if it is the default plan, consumers. A price that another plan has is previewed as if it moved to this plan; the change itself is refused until the other plan gives it up.`,
    tag: 'Catalog',
    policy: { actors: ['session', 'api_key'], scope: 'catalog:read', project: true, reads: true, costly: true },
    responses: { 200: { description: 'What would change.', schema: PlanPreview } },
    faults: ['not_found', 'invalid_cursor'],
  }),
  body(PreviewPlanBody),
  async (c) => {
    const { cursor, ...sent } = c.req.valid('json')
    const of = { project_id: projectOf(c.get('actor')), id: c.req.param('id') }
    const by = { rt: c.get('rt'), ask: <Q extends Queries>(queries: Q) => read(c, queries) }
    const preview = await previewPlan(by, of, planFieldsOf(sent), cursor)
    return answer(c, preview, 200)
  },
)
