import type { Combine, FeatureType } from '../../../catalog/values'

/** What each type of feature is, in words. */
export const TYPES: Record<FeatureType, string> = {
  boolean: 'On or off',
  quantity: 'A quantity',
  config: 'JSON of your own',
}

/** How the quantities of several sources become one, in words. */
export const COMBINED: Record<Combine, string> = { max: 'the greatest counts', sum: 'they are added up' }
