import { invalidFields } from '../http/validate'
import { Fault, type FieldFault } from '../lib/fault'
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
export type CatalogWrites = { features: FeatureWrite[]; deleted: string[]; plans: PlanWrite[] }

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
  const wrong = [...leftOut(state, wanted), ...unfit(plans, features), ...mappedTwice(plans)]
  if (wrong.length > 0) throw invalidFields(wrong.slice(0, MAX_SHOWN))
  const deleted = state.features.map(({ key }) => key).filter((key) => !Object.hasOwn(wanted.features, key))
  requireUnnamed(state, plans, deleted)
  requireBytes(plans)
  return {
    features: features
      .map((after) => ({ before: known.get(after.key) ?? null, after }))
      .filter(({ before, after }) => before?.name !== after.name || before.combine !== after.combine),
    deleted,
    plans: plans
      .map((after) => ({ before: had.get(after.key) ?? null, after, fields: differing(had.get(after.key), after) }))
      .filter(({ fields }) => fields.length > 0),
  }
}

/** How many features and plans are to be written or deleted. */
export function countWrites({ features, deleted, plans }: CatalogWrites): number {
  return features.length + deleted.length + plans.length
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
  return plans.flatMap(({ key, features: given }) =>
    misfits(given, features).map((one) => ({ ...one, pointer: `/plans/${key}${one.pointer}` })),
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

/** @throws {Fault} `feature_in_use`, `plan_is_default` if a setting of the project names what is to go */
function requireUnnamed(state: CatalogState, plans: readonly PlanFields[], deleted: readonly string[]): void {
  if (state.devices_feature !== null && deleted.includes(state.devices_feature))
    throw featureInUse([state.devices_feature])
  const defaultPlan = state.plans.find(({ id }) => id === state.default_plan)
  if (defaultPlan && plans.some(({ key, state: to }) => key === defaultPlan.key && to === 'archived'))
    throw isDefaultPlan()
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
