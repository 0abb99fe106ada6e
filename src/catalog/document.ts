import * as z from 'zod'
import { catalogKey, exampleOf, named } from '../http/fields'
import { pointerTo } from '../http/issues'
import { invalidFields } from '../http/validate'
import type { FieldFault } from '../lib/fault'
import { CATALOG_SETTINGS, type CatalogSettings, DEFAULTS, ofCatalog, SETTINGS } from '../tenancy/settings'
import { ITEM_KEYS } from '../vendors/purchase-parts'
import { CreatePlanBody, PlanShown, PutFeatureBody } from './fields'
import { MAX_FEATURES, MAX_FEATURES_OF_PLAN, MAX_PLANS, MAX_PRICES_OF_PLAN } from './limits'

/*
 * The whole catalog as one document, in which features and plans are found by their keys.
 */

const VERSION = 'Changes with every change of the catalog, and of the settings that are in it.'

/**
 * Refuses a document with too many entries before they are looked at one by one: zod would hold all that is wrong with 100,000 of them at
 * once, which is more memory than a Worker has.
 *
 * @throws {Fault} `validation_failed`
 */
export function requireSizes(sent: unknown): void {
  const { features, plans } = entriesOf(sent)
  const itemKeys = entriesOf(entriesOf(sent).settings).purchase_item_keys
  const wrong = [
    ...tooMany(['features'], features, MAX_FEATURES),
    ...tooMany(['plans'], plans, MAX_PLANS),
    ...tooMany(['settings', 'purchase_item_keys'], itemKeys, ITEM_KEYS.length),
  ]
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

/** The settings as the document has them: the default plan by its key, as everything in it. */
const settings = {
  ...(Object.fromEntries(CATALOG_SETTINGS.map((name) => [name, SETTINGS[name].schema])) as {
    [N in keyof CatalogSettings]: (typeof SETTINGS)[N]['schema']
  }),
  default_plan: catalogKey
    .nullable()
    .describe(
      'The key of the active plan that consumers have while no subscription, purchase or grant gives them a plan. Null: none.',
    ),
}
/** Settings to change; the others stay. */
const CatalogSettingsBody = named('CatalogSettings', z.strictObject(settings).partial(), { default_plan: 'pro' })

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
    settings: CatalogSettingsBody.optional().describe(
      'Settings of the project that belong to what it sells. One that is left out stays as it is. A change of one requires the scope `projects:write` too.',
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

const SETTINGS_UNSET = ofCatalog(DEFAULTS)
const { type, combine } = PutFeatureBody.shape
const { rank, state, features, prices } = PlanShown.shape

export const CatalogShown = named(
  'Catalog',
  z.object({
    version: z.string().describe(VERSION),
    features: z.record(z.string(), z.object({ name: z.string(), type, combine })),
    plans: z.record(z.string(), z.object({ name: z.string(), rank, state, features, prices })),
    settings: named('CatalogSettingsShown', z.object(settings), SETTINGS_UNSET).describe(
      'The settings of the project that belong to what it sells.',
    ),
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
    settings: SETTINGS_UNSET,
  },
)

const keys = z.array(z.string())
export const WritesShown = named(
  'CatalogWrites',
  z.object({
    features: z.object({ created: keys, updated: keys, deleted: keys }).describe('The keys of features.'),
    plans: z.object({ created: keys, updated: keys }).describe('The keys of plans.'),
    settings: keys.describe('The names of the settings that change.'),
  }),
  { features: { created: [], updated: [], deleted: [] }, plans: { created: [], updated: ['pro'] }, settings: [] },
)

export const CatalogWritten = named(
  'CatalogWritten',
  z.object({
    version: z.string().describe(`The version that the catalog has now. ${VERSION}`),
    writes: WritesShown,
  }),
  { version: '7f9c2ba4e88f827d616045507605853e', writes: exampleOf(WritesShown) },
)
