import * as z from 'zod'
import { WritesShown } from '../catalog/document'
import { count, exampleOf, named } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { MAX_CHANGES } from './limits'

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

export const CatalogPreview = named(
  'CatalogPreview',
  PlanPreview.extend({
    version: z.string().describe('The version of the catalog that the document was compared with.'),
    writes: WritesShown,
  }),
  { ...exampleOf(PlanPreview), version: '7f9c2ba4e88f827d616045507605853e', writes: exampleOf(WritesShown) },
)
