import * as z from 'zod'
import { MAX_FEATURES } from '../catalog/limits'
import { CustomerLink } from '../consumers/customer-fields'
import { MAX_CUSTOMERS, MAX_EXTERNAL_ID } from '../consumers/limits'
import { EXTERNAL, NAMES_CONSUMER } from '../consumers/ref'
import { flagOrFalse, named, several, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { MAX_KEY } from '../lib/catalog-key'
import { DEFAULT_TTL_S, MAX_ASKED_FEATURES, MAX_CONSUMERS, MAX_DAYS_FROM_NOW, MAX_TTL_S, MIN_TTL_S } from './limits'
import { REASONS } from './resolve'

const ReasonName = named('EntitlementReason', z.enum(REASONS))
const shown = {
  allowed: z.boolean(),
  value: z
    .unknown()
    .describe(
      'True or false for a boolean, a number or `"unlimited"` for a quantity, JSON or null for a config. Null for a feature that is not in the catalog.',
    ),
  reason: ReasonName.describe('What it comes from, or why it is not allowed. New values may be added.'),
  valid_until: timestamp
    .nullable()
    .describe('When the first of the sources that the value comes from ends. Null if none has a known end.'),
}
const as_of = timestamp.describe(
  "The database's clock at the time of the read. Of two answers, the one with the later time is newer. With `at`, that time.",
)

export const EntitlementShown = named('Entitlement', z.object(shown))
const ExplainedEntitlement = named(
  'ExplainedEntitlement',
  z.object({
    ...shown,
    sources: z
      .array(
        z.object({
          type: named('EntitlementSource', z.enum(['subscription', 'purchase', 'grant', 'default'])),
          id: z
            .string()
            .describe(
              "The vendor's id of the subscription or the purchase, or the id of the grant, or of the project's default plan.",
            ),
          vendor: z.string().nullable(),
          plan: z.string().nullable().describe('The key of the plan.'),
          price: z.string().nullable().describe("The vendor's id of the price."),
          seats: z.int().nullable().describe('The quantity of the item, without what was returned of it.'),
          value: z.unknown().describe('What it would give; null if it gives nothing, or denies.'),
          from: timestamp.nullable(),
          until: timestamp.nullable(),
          event_id: z
            .string()
            .nullable()
            .describe(
              'The recorded event that decides the state of the subscription or the purchase: if the payment came back, that of the refund or the dispute.',
            ),
          ambiguous: z.boolean().describe('Whether several events disagree about the subscription or the purchase.'),
          counted: z.boolean().describe('Whether the answer comes from it.'),
          why_not: z.string().nullable().describe('Why it does not count, in words for people.'),
        }),
      )
      .optional()
      .describe('Only with `explain=true`.'),
  }),
)

export const SAMPLE_ENTITLEMENT = { allowed: true, value: 10, reason: 'plan' as const, valid_until: SAMPLE.end }

/** The features that a check asks about. */
export const askedFeatures = z.array(z.string().min(1).max(MAX_KEY)).min(1).max(MAX_ASKED_FEATURES)

export const CheckBody = named(
  'CheckEntitlements',
  z.strictObject({
    consumers: z
      .array(
        z
          .string()
          .min(1)
          .max(EXTERNAL.length + MAX_EXTERNAL_ID)
          .regex(NAMES_CONSUMER, `must be the id of a consumer (csm_…), or ${EXTERNAL} and your own id`),
      )
      .min(1)
      .max(MAX_CONSUMERS)
      .describe('Consumers, each by its id or by `ext:` and its external id.'),
    features: askedFeatures.describe('Keys of features.'),
  }),
  { consumers: [`${EXTERNAL}${SAMPLE.externalId}`], features: ['seats'] },
)

export const CheckedEntitlements = named(
  'CheckedEntitlements',
  z.object({
    as_of,
    data: z
      .array(
        z.object({
          consumer: z.string().describe('As you named it.'),
          consumer_id: z.string().nullable().describe('Null if there is no such consumer.'),
          features: z.record(z.string(), EntitlementShown),
        }),
      )
      .describe('In the order in which you asked.'),
  }),
  {
    as_of: SAMPLE.time,
    data: [
      {
        consumer: `${EXTERNAL}${SAMPLE.externalId}`,
        consumer_id: SAMPLE.consumer,
        features: { seats: SAMPLE_ENTITLEMENT },
      },
    ],
  },
)

export const EntitlementsQuery = z.strictObject({
  feature: several(z.string().min(1).max(MAX_KEY), MAX_ASKED_FEATURES)
    .optional()
    .describe('Only the features with these keys. Repeatable. Without it, every feature of the catalog.'),
  explain: flagOrFalse.describe('Adds what could give each feature, what of it counts, and why the rest does not.'),
  at: z.iso
    .datetime({ offset: true })
    .optional()
    .describe(
      `A time up to ${MAX_DAYS_FROM_NOW} days ago: what we would have answered then. Or a time up to as many days ahead: the answer if nothing happens before it. The response has \`exact\` and \`missing\`.`,
    ),
})

export const EntitlementsShown = named(
  'Entitlements',
  z.object({
    as_of,
    consumer: z.string().describe('As you named it.'),
    consumer_id: z.string(),
    features: z.record(z.string(), ExplainedEntitlement).describe('By key.'),
    customers: z
      .array(CustomerLink)
      .optional()
      .describe(
        `Only with \`explain=true\`: the customers that are the consumer's, up to ${MAX_CUSTOMERS}. They are today's, also with \`at\`.`,
      ),
    exact: z
      .boolean()
      .optional()
      .describe('Only with `at`: whether everything is known that the answer depended on then.'),
    missing: z.array(z.string()).optional().describe('Only with `at`: what is not known, in words for people.'),
  }),
  {
    as_of: SAMPLE.time,
    consumer: `${EXTERNAL}${SAMPLE.externalId}`,
    consumer_id: SAMPLE.consumer,
    features: { seats: SAMPLE_ENTITLEMENT },
  },
)

export const EntitlementTokenBody = named(
  'CreateEntitlementToken',
  z.strictObject({
    ttl_s: z
      .int()
      .min(MIN_TTL_S)
      .max(MAX_TTL_S)
      .default(DEFAULT_TTL_S)
      .describe('The maximum lifetime of the token (seconds).'),
    features: z
      .array(z.string().min(1).max(MAX_KEY))
      .min(1)
      .max(MAX_FEATURES)
      .optional()
      .describe('Keys of features. Without it, the token covers all features of the catalog.'),
    device: z
      .string()
      .min(1)
      .optional()
      .describe('The id of an active device of the consumer, for the claim `device`.'),
  }),
  { ttl_s: DEFAULT_TTL_S, features: ['seats'] },
)

export const EntitlementToken = named(
  'EntitlementToken',
  z.object({
    token: z.string().describe('A JWS in its compact form.'),
    expires_at: timestamp.describe('When the token expires.'),
  }),
  { token: 'eyJhbGciOiJFUzI1NiIsImtpZCI6….eyJpc3MiOiJodHRwczov….MEUCIQDx…', expires_at: SAMPLE.later },
)
