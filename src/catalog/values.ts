import { utf8 } from '../lib/crypto'
import type { FieldFault } from '../lib/fault'
import { MAX_CONFIG_BYTES, MAX_CONFIG_DEPTH } from './limits'

/*
 * The types of features, and the values that a plan or a grant can give them.
 */

export const FEATURE_TYPES = ['boolean', 'quantity', 'config'] as const
export type FeatureType = (typeof FEATURE_TYPES)[number]

/** How the quantities of several sources become one: the greatest, or all together. */
export const COMBINES = ['max', 'sum'] as const
export type Combine = (typeof COMBINES)[number]

/** More than every number. */
export const UNLIMITED = 'unlimited'

/** What a plan gives: `true`, a whole number or `unlimited`, or any JSON but null, by the type of the feature. */
export type PlanFeature = { value: unknown; per_seat: boolean }
export type PlanFeatures = Record<string, PlanFeature>

/** What a value of each type must be, as the end of a sentence. */
const RULES: Record<FeatureType, string> = {
  boolean: 'must be true, because the feature is a boolean',
  quantity: `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER} or "${UNLIMITED}", because the feature is a quantity`,
  config: `must be JSON of at most ${MAX_CONFIG_BYTES} bytes and ${MAX_CONFIG_DEPTH} levels, and not null`,
}

/** Whether a feature of this type can have the value. `featuresFit` of features.ts says the same. */
export function fits(type: FeatureType, value: unknown): boolean {
  if (type === 'boolean') return value === true
  if (type === 'quantity') return value === UNLIMITED || (Number.isSafeInteger(value) && (value as number) >= 0)
  return isConfig(value)
}

/** Whether the value can be stored at all: JSON within the limits, and not null. */
export function isConfig(value: unknown): boolean {
  if (value === null || value === undefined || utf8(JSON.stringify(value)).byteLength > MAX_CONFIG_BYTES) return false
  return depthOf(value, MAX_CONFIG_DEPTH) <= MAX_CONFIG_DEPTH
}

export const CONFIG_RULE = RULES.config

/** The levels of arrays and objects in a value. It looks no further than one level below `most`. */
function depthOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (most === 0) return 1
  return 1 + Math.max(0, ...Object.values(value).map((part) => depthOf(part, most - 1)))
}

/** A feature of the project, as far as values concern it. */
export type Typed = { key: string; type: FeatureType }

/**
 * What is wrong with the features of a plan.
 *
 * @param known the features that there are
 * @param unknown what is said of any other, as the end of a sentence
 */
export function misfits(
  wanted: PlanFeatures,
  known: readonly Typed[],
  unknown = 'is not a feature of the project',
): FieldFault[] {
  return Object.entries(wanted).flatMap(([key, { value, per_seat }]): FieldFault[] => {
    const type = known.find((one) => one.key === key)?.type
    if (!type) return [{ pointer: `/features/${key}`, code: 'not_one_of', message: unknown }]
    const wrong = misfit(type, value, `/features/${key}/value`)
    if (wrong) return [wrong]
    if (!per_seat || type === 'quantity') return []
    const message = 'must be false, because only quantities are counted by seat'
    return [{ pointer: `/features/${key}/per_seat`, code: 'not_one_of', message }]
  })
}

/** What is wrong with a value of this type; null if it fits. */
export function misfit(type: FeatureType, value: unknown, pointer: string): FieldFault | null {
  return fits(type, value) ? null : { pointer, code: 'wrong_type', message: RULES[type] }
}
