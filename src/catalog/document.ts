import * as z from 'zod'
import { catalogKey, exampleOf, named } from '../http/fields'
import { pointerTo } from '../http/issues'
import { invalidFields } from '../http/validate'
import type { FieldFault } from '../lib/fault'
import { CreatePlanBody, PlanShown, PutFeatureBody } from './fields'
import { MAX_FEATURES, MAX_FEATURES_OF_PLAN, MAX_PLANS, MAX_PRICES_OF_PLAN } from './limits'

/*
 * The whole catalog as one document, in which features and plans are found by their keys.
 */

const VERSION = 'Changes with every change of the catalog, and of the settings `default_plan` and `devices_feature`.'

/**
 * Refuses a document with too many entries before they are looked at one by one: zod would hold all that is wrong with 100,000 of them at
 * once, which is more memory than a Worker has.
 *
 * @throws {Fault} `validation_failed`
 */
export function requireSizes(sent: unknown): void {
  const { features, plans } = entriesOf(sent)
  const wrong = [...tooMany(['features'], features, MAX_FEATURES), ...tooMany(['plans'], plans, MAX_PLANS)]
  if (wrong.length > 0) throw invalidFields(wrong)
  const inPlans = Object.entries(entriesOf(plans)).flatMap(([key, plan]) => {
    const { features: given, prices } = entriesOf(plan)
    return [
      ...tooMany(['plans', key, 'features'], given, MAX_FEATURES_OF_PLAN),
      ...tooMany(['plans', key, 'prices'], prices, MAX_PRICES_OF_PLAN),
    ]
  })
  if (inPlans.length > 0) throw invalidFields(inPlans)
}

function entriesOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function tooMany(path: string[], value: unknown, most: number): FieldFault[] {
  const n = Object.keys(entriesOf(value)).length
  return n > most
    ? [{ pointer: pointerTo(path), code: 'out_of_range', message: `must have at most ${most} entries` }]
    : []
}

const CatalogPlan = named('CatalogPlan', CreatePlanBody.omit({ key: true }))

export const CatalogBody = named(
  'CatalogDocument',
  z.strictObject({
    features: z
      .record(catalogKey, PutFeatureBody)
      .describe('All features by their keys. One that is left out is deleted.'),
    plans: z
      .record(catalogKey, CatalogPlan)
      .describe(
        'All plans by their keys. None can be left out, because plans are not deleted: set its `state` to `archived`.',
      ),
  }),
  {
    features: { sso: { name: 'Single sign-on', type: 'boolean' }, seats: { name: 'Seats', type: 'quantity' } },
    plans: {
      pro: {
        name: 'Pro',
        rank: 10,
        features: { sso: { value: true }, seats: { value: 5, per_seat: true } },
        prices: [{ vendor: 'stripe', ref: 'price_1QZ4k' }],
      },
    },
  },
)
export type CatalogWanted = z.output<typeof CatalogBody>

/** What an editor needs to know of a file with the catalog: the document, and what the command keeps in it. */
export const CatalogFile = CatalogBody.extend({
  $schema: z.string().optional(),
  versions: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      'The version of the catalog in each project that the file was pulled from or pushed to. The command writes it.',
    ),
})

const { type, combine } = PutFeatureBody.shape
const { rank, state, features, prices } = PlanShown.shape

export const CatalogShown = named(
  'Catalog',
  z.object({
    version: z.string().describe(VERSION),
    features: z.record(z.string(), z.object({ name: z.string(), type, combine })),
    plans: z.record(z.string(), z.object({ name: z.string(), rank, state, features, prices })),
  }),
  {
    version: '7f9c2ba4e88f827d616045507605853e',
    features: {
      sso: { name: 'Single sign-on', type: 'boolean' },
      seats: { name: 'Seats', type: 'quantity', combine: 'max' },
    },
    plans: {
      pro: {
        name: 'Pro',
        rank: 10,
        state: 'active',
        features: { seats: { value: 5, per_seat: true }, sso: { value: true, per_seat: false } },
        prices: [{ vendor: 'stripe', ref: 'price_1QZ4k', lasts: null, again: null }],
      },
    },
  },
)

const keys = z.array(z.string())
export const WritesShown = named(
  'CatalogWrites',
  z.object({
    features: z.object({ created: keys, updated: keys, deleted: keys }).describe('The keys of features.'),
    plans: z.object({ created: keys, updated: keys }).describe('The keys of plans.'),
  }),
  { features: { created: [], updated: [], deleted: [] }, plans: { created: [], updated: ['pro'] } },
)

export const CatalogWritten = named(
  'CatalogWritten',
  z.object({
    version: z.string().describe(`The version that the catalog has now. ${VERSION}`),
    writes: WritesShown,
  }),
  { version: '7f9c2ba4e88f827d616045507605853e', writes: exampleOf(WritesShown) },
)
