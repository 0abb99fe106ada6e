import { invalidFields } from '../http/validate'
import { Fault, type FieldFault } from '../lib/fault'
import type { CatalogSettings } from '../tenancy/settings'
import { bytesIn, type PlanFields } from './change'
import type { CatalogWanted } from './document'
import { type Feature, featureInUse, requireType } from './features'
import { planFieldsOf } from './fields'
import { MAX_CATALOG_BYTES } from './limits'
import { isDefaultPlan, type MappedPrice, type Plan } from './plans'
import type { CatalogState } from './state'
import { misfits } from './values'

/** A feature as it is to be. `before`: null if it is new. */
export type FeatureWrite = { before: Feature | null; after: Pick<Feature, 'key' | 'name' | 'type' | 'combine'> }
/** A plan as it is to be. `fields`: the names of what differs. */
export type PlanWrite = { before: Plan | null; after: PlanFields; fields: (keyof PlanFields)[] }
/** What is to be written so that a catalog is as a document says. */
export type CatalogWrites = {
  features: FeatureWrite[]
  deleted: string[]
  plans: PlanWrite[]
  /** Those that change. The default plan has its key. */
  settings: Partial<CatalogSettings>
}

/** Faults of fields that one answer names. */
const MAX_SHOWN = 50

/**
 * What differs between a catalog and a document.
 *
 * @throws {Fault} `validation_failed`, `feature_type_fixed`, `feature_in_use`, `plan_is_default`, `catalog_limit_reached`
 */
export function writesFor(state: CatalogState, wanted: CatalogWanted): CatalogWrites {
  const plans = Object.entries(wanted.plans).map(([key, plan]) => planFieldsOf({ ...plan, key }) as PlanFields)
  const features = Object.entries(wanted.features).map(([key, { name, type, combine }]) => {
    return { key, name, type, combine: type === 'quantity' ? (combine ?? 'max') : null }
  })
  const known = new Map(state.features.map((feature) => [feature.key, feature]))
  const had = new Map(state.plans.map((plan) => [plan.key, plan]))
  for (const { key, type } of features) requireType(known.get(key) ?? { key, type }, type)
  const wrong = [
    ...leftOut(state, wanted),
    ...unfit(plans, features),
    ...mappedTwice(plans),
    ...unsettled(wanted, plans, features),
  ]
  if (wrong.length > 0) throw invalidFields(wrong.slice(0, MAX_SHOWN))
  const deleted = state.features.map(({ key }) => key).filter((key) => !Object.hasOwn(wanted.features, key))
  const settings = changedSettings(state, wanted)
  requireUnnamed({ ...state.settings, ...settings }, plans, deleted)
  requireBytes(plans)
  return {
    features: features
      .map((after) => ({ before: known.get(after.key) ?? null, after }))
      .filter(({ before, after }) => before?.name !== after.name || before.combine !== after.combine),
    deleted,
    plans: plans
      .map((after) => ({ before: had.get(after.key) ?? null, after, fields: differing(had.get(after.key), after) }))
      .filter(({ fields }) => fields.length > 0),
    settings,
  }
}

/** How many features, plans and settings are to be written or deleted. */
export function countWrites({ features, deleted, plans, settings }: CatalogWrites): number {
  return features.length + deleted.length + plans.length + Object.keys(settings).length
}

/** Plans that the document lacks. */
function leftOut({ plans }: CatalogState, wanted: CatalogWanted): FieldFault[] {
  const message = 'must be in the document, because plans cannot be deleted. Set its state to archived'
  return plans
    .filter(({ key }) => !Object.hasOwn(wanted.plans, key))
    .map(({ key }) => ({ pointer: `/plans/${key}`, code: 'required', message }))
}

/** What plans give that is not among the features, or does not fit their types. */
function unfit(plans: readonly PlanFields[], features: readonly FeatureWrite['after'][]): FieldFault[] {
  const unknown = 'is not in the features of the document: remove it from the plan too, or add it there'
  return plans.flatMap(({ key, features: given }) =>
    misfits(given, features, unknown).map((one) => ({ ...one, pointer: `/plans/${key}${one.pointer}` })),
  )
}

/** Prices that two plans have. */
function mappedTwice(plans: readonly PlanFields[]): FieldFault[] {
  const first = new Map<string, string>()
  return plans.flatMap(({ key, prices }) =>
    prices.flatMap(({ vendor, ref }): FieldFault[] => {
      const other = first.get(`${vendor} ${ref}`)
      first.set(`${vendor} ${ref}`, key)
      if (other === undefined) return []
      const message = `must not have ${ref} of ${vendor}, because the plan ${other} has it too`
      return [{ pointer: `/plans/${key}/prices`, code: 'malformed', message }]
    }),
  )
}

/** The settings that the document names and that differ. */
function changedSettings({ settings }: CatalogState, wanted: CatalogWanted): Partial<CatalogSettings> {
  const differs = ([name, value]: [string, unknown]) =>
    value !== undefined && JSON.stringify(value) !== JSON.stringify(settings[name as keyof CatalogSettings])
  return Object.fromEntries(Object.entries(wanted.settings ?? {}).filter(differs))
}

/** Settings that name what the document does not have, or not so. */
function unsettled(
  { settings: { devices_feature, default_plan } = {} }: CatalogWanted,
  plans: readonly PlanFields[],
  features: readonly FeatureWrite['after'][],
): FieldFault[] {
  const wrong = (name: string, what: string) => {
    return { pointer: `/settings/${name}`, code: 'not_one_of' as const, message: `must be ${what} of the document` }
  }
  const counts =
    devices_feature == null || features.some((one) => one.key === devices_feature && one.type === 'quantity')
  const isSold = default_plan == null || plans.some(({ key, state }) => key === default_plan && state === 'active')
  return [
    ...(counts ? [] : [wrong('devices_feature', 'a quantity feature')]),
    ...(isSold ? [] : [wrong('default_plan', 'an active plan')]),
  ]
}

/** @throws {Fault} `feature_in_use`, `plan_is_default` if a setting of the project will still name what is to go */
function requireUnnamed(
  { devices_feature, default_plan }: CatalogSettings,
  plans: readonly PlanFields[],
  deleted: readonly string[],
): void {
  if (devices_feature !== null && deleted.includes(devices_feature)) throw featureInUse([devices_feature])
  if (plans.some(({ key, state }) => key === default_plan && state === 'archived')) throw isDefaultPlan()
}

/** @throws {Fault} `catalog_limit_reached` */
function requireBytes(plans: readonly PlanFields[]): void {
  const bytes = plans.reduce((sum, { features }) => sum + bytesIn(features), 0)
  if (bytes <= MAX_CATALOG_BYTES) return
  const words = `The features of all plans of a project can take ${MAX_CATALOG_BYTES.toLocaleString('en')} bytes as JSON.`
  throw new Fault('catalog_limit_reached', `${words} They would take ${bytes}.`)
}

/** The fields of a plan that differ; of a new plan, all. */
function differing(before: Plan | undefined, after: PlanFields): (keyof PlanFields)[] {
  const names = Object.keys(after) as (keyof PlanFields)[]
  if (!before) return names
  const asText = (plan: PlanFields, name: keyof PlanFields) =>
    name === 'prices' ? plan.prices.map(priceText).sort().join(' ') : JSON.stringify(plan[name])
  return names.filter((name) => asText(before, name) !== asText(after, name))
}

/** A price as a text, by which it can be compared. */
export function priceText({ vendor, ref, lasts, again }: MappedPrice): string {
  return JSON.stringify([vendor, ref, lasts ?? null, again ?? null])
}
