import * as z from 'zod'
import { catalogKey, exampleOf, named, timestamp, visibleText } from '../http/fields'
import { pageFields } from '../http/page'
import { SAMPLE } from '../http/samples'
import { iso } from '../lib/time'
import { VendorField } from '../vendors/field'
import { isId } from '../vendors/lib/read'
import type { PlanFields } from './change'
import type { Feature } from './features'
import { AGAIN, LASTS } from './lasting'
import {
  MAX_CATALOG_NAME,
  MAX_CONFIG_BYTES,
  MAX_FEATURES_OF_PLAN,
  MAX_PRICES_OF_PLAN,
  MAX_RANK,
  MAX_UNMAPPED,
} from './limits'
import type { Plan } from './plans'
import { PLAN_STATES } from './schema'
import type { Unmapped as UnmappedRow } from './sold'
import { COMBINES, CONFIG_RULE, FEATURE_TYPES, isConfig } from './values'

const FeatureTypeName = named('FeatureType', z.enum(FEATURE_TYPES))
const CombineName = named('Combine', z.enum(COMBINES))
const PlanStateName = named('PlanState', z.enum(PLAN_STATES))
const name = visibleText(MAX_CATALOG_NAME)

export const PutFeatureBody = named(
  'PutFeature',
  z
    .strictObject({
      name,
      type: FeatureTypeName.describe(
        'It cannot change. `boolean`: the consumer either has it or not. `quantity`: how many. `config`: your own JSON.',
      ),
      combine: CombineName.optional().describe(
        'Quantities only: whether several sources give the greatest of their quantities, or the sum. The default is `max`.',
      ),
    })
    .refine(({ type, combine }) => type === 'quantity' || combine === undefined, {
      path: ['combine'],
      error: 'can only be set for a quantity',
      params: { code: 'not_one_of' },
    }),
  { name: 'Seats', type: 'quantity', combine: 'max' },
)

export const FeatureShown = named(
  'Feature',
  z.object({
    key: z.string(),
    name: z.string(),
    type: FeatureTypeName,
    combine: CombineName.nullable().describe('Null unless the feature is a quantity.'),
    created_at: timestamp,
  }),
  { key: 'seats', name: 'Seats', type: 'quantity', combine: 'max', created_at: SAMPLE.time },
)

export function presentFeature({ created_at, ...row }: Feature): z.infer<typeof FeatureShown> {
  return { ...row, created_at: iso(created_at) }
}

const VALUE = `\`true\` for a boolean; a whole number, or \`"unlimited"\`, for a quantity; JSON of at most ${MAX_CONFIG_BYTES} bytes for a config.`

/** The value of a feature. Whether it fits the type of the feature is checked where it is stored. */
export const featureValue = z
  .unknown()
  .refine((value) => value !== undefined, 'is required')
  .refine((value) => value === undefined || isConfig(value), { error: CONFIG_RULE, params: { code: 'wrong_type' } })
  .describe(VALUE)

const planFeatures = z
  .record(
    catalogKey,
    z.strictObject({
      value: featureValue,
      per_seat: z
        .boolean()
        .default(false)
        .describe("Quantities only: whether the value is multiplied by the quantity of the subscription's item."),
    }),
  )
  .refine((pairs) => Object.keys(pairs).length <= MAX_FEATURES_OF_PLAN, {
    error: `must have at most ${MAX_FEATURES_OF_PLAN} entries`,
    params: { code: 'out_of_range' },
  })

const AgainName = named('Again', z.enum(AGAIN))
const price = z.strictObject({
  vendor: VendorField,
  ref: z
    .string()
    .min(1)
    .refine(isId, 'is not an id that a vendor could give')
    .describe("The vendor's id of the price or the product. A price of its own outranks its product."),
  lasts: z
    .string()
    .regex(LASTS, 'must be forever, or a duration such as P30D, P6M or P1Y')
    .nullish()
    .describe(
      'How long a one-time payment of it gives the plan: `forever`, or days, months or years, such as `P30D`, `P6M` or `P1Y`. Without it, one-time payments give nothing. It makes no difference to subscriptions.',
    ),
  again: AgainName.nullish().describe(
    'What a second payment does, before the first one has ended. `after` (the default): its time follows. `beside`: it begins at once, so that quantities with `combine: sum` add up. Only with `lasts`.',
  ),
})
const prices = z
  .array(price)
  .max(MAX_PRICES_OF_PLAN)
  .refine((list) => new Set(list.map(({ vendor, ref }) => `${vendor} ${ref}`)).size === list.length, {
    error: 'must not list a price twice',
    params: { code: 'malformed' },
  })
  .refine((list) => list.every(({ lasts, again }) => (lasts ?? null) !== null || (again ?? null) === null), {
    error: 'must not have again without lasts',
    params: { code: 'malformed' },
  })

const planFields = {
  key: catalogKey.describe('Your own name for the plan in code. Unique in the project.'),
  name,
  rank: z
    .int()
    .min(0)
    .max(MAX_RANK)
    .describe('Of several plans with a config feature, the one with the highest rank counts.'),
  state: PlanStateName.describe('`archived` is only a label for people: consumers who have the plan keep it.'),
  features: planFeatures.describe('What the plan gives, by the key of the feature.'),
  prices: prices.describe('What your vendors sell the plan as. A price or a product belongs to one plan.'),
}

export const CreatePlanBody = named(
  'CreatePlan',
  z.strictObject({
    key: planFields.key,
    name: planFields.name,
    rank: planFields.rank.default(0),
    state: planFields.state.default('active'),
    features: planFields.features.default({}),
    prices: planFields.prices.default([]),
  }),
  {
    key: 'pro',
    name: 'Pro',
    rank: 10,
    features: { sso: { value: true }, seats: { value: 5, per_seat: true } },
    prices: [{ vendor: 'stripe', ref: 'price_1QZ4k' }],
  },
)

const changedFields = z.strictObject(planFields).partial()
const noField = { error: 'must have at least one field to change', params: { code: 'required' } }

export const UpdatePlanBody = named(
  'UpdatePlan',
  changedFields.refine((changes) => Object.keys(changes).length > 0, noField),
  { name: 'Pro 2026', rank: 20 },
)

export const PreviewPlanBody = named(
  'PreviewPlan',
  changedFields
    .extend({ cursor: pageFields.cursor })
    .refine(({ cursor: _, ...changes }) => Object.keys(changes).length > 0, noField),
  { features: { sso: { value: true }, seats: { value: 10, per_seat: true } } },
)

/** What a body sets, as it is stored: features with their keys in order. */
export function planFieldsOf<T extends z.infer<typeof UpdatePlanBody>>({ features, ...rest }: T) {
  const sorted =
    features &&
    Object.fromEntries(
      Object.entries(features)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, { value, per_seat }]) => [key, { value, per_seat }]),
    )
  const given = Object.entries(rest).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(given), ...(sorted && { features: sorted }) } as Partial<PlanFields>
}

export const PlanShown = named(
  'Plan',
  z.object({
    id: z.string(),
    key: z.string(),
    name: z.string(),
    rank: z.int(),
    state: PlanStateName,
    features: z.record(z.string(), z.object({ value: z.unknown().describe(VALUE), per_seat: z.boolean() })),
    prices: z.array(
      z.object({
        vendor: z.string(),
        ref: z.string(),
        lasts: z.string().nullable().describe('Null: one-time payments of it give nothing.'),
        again: AgainName.nullable(),
      }),
    ),
    revision: z.int().describe('Goes up with every change.'),
    updated_at: timestamp,
  }),
  {
    id: SAMPLE.plan,
    key: 'pro',
    name: 'Pro',
    rank: 10,
    state: 'active',
    features: { sso: { value: true, per_seat: false }, seats: { value: 5, per_seat: true } },
    prices: [{ vendor: 'stripe', ref: 'price_1QZ4k', lasts: null, again: null }],
    revision: 1,
    updated_at: SAMPLE.time,
  },
)

export function presentPlan({ updated_at, prices, ...row }: Plan): z.infer<typeof PlanShown> {
  const shown = prices.map(({ vendor, ref, lasts = null, again = null }) => ({ vendor, ref, lasts, again }))
  return { ...row, prices: shown, updated_at: iso(updated_at) }
}

const Unmapped = named(
  'UnmappedPrice',
  z.object({
    vendor: z.string(),
    price: z.string().nullable().describe("The vendor's id of the price. Null if the items name only a product."),
    product: z.string().nullable(),
    name: z.string().nullable().describe('The name of the price, from an import or from the items.'),
    product_name: z.string().nullable().describe('Null if no import has read the price.'),
    active: z
      .boolean()
      .nullable()
      .describe(
        'Whether the price can be bought. Null if no import has read the price, or if the vendor does not say.',
      ),
    subscriptions: z.int().describe('How many of the subscriptions that changed last are for it.'),
    purchases: z.int().describe('How many of the purchases that changed last are for it.'),
  }),
  {
    vendor: 'stripe',
    price: 'price_1QZ4k',
    product: 'prod_R4x',
    name: 'Monthly',
    product_name: 'Pro',
    active: true,
    subscriptions: 120,
    purchases: 0,
  },
)

export const UnmappedPrices = named(
  'UnmappedPrices',
  z.object({
    prices: z.array(Unmapped).describe('The most frequent ones first.'),
    more: z.boolean().describe('Whether there are more than these.'),
  }),
  { prices: [exampleOf(Unmapped)], more: false },
)

/** @param rows up to one more than are shown */
export function presentUnmapped(rows: readonly UnmappedRow[]): z.infer<typeof UnmappedPrices> {
  const prices = rows
    .slice(0, MAX_UNMAPPED)
    .map(({ n, bought, ...row }) => ({ ...row, subscriptions: n, purchases: bought }))
  return { prices, more: rows.length > MAX_UNMAPPED }
}
