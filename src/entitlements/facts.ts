import type { FeatureType, PlanFeatures } from '../catalog/values'
import type { Effect } from '../consumers/schema'
import type { Rules, Timing } from './window'

/*
 * What entitlements are derived from: rows of the database, as read.
 */

export type Feature = { key: string; type: FeatureType; combine: 'max' | 'sum' | null }

export type Plan = { id: string; key: string; rank: number; features: PlanFeatures }

/** An item of a subscription. `plan_id`: of its price, or else of its product; null if neither is mapped. */
export type Item = { price: string | null; product: string | null; quantity: number | null; plan_id: string | null }

export type Subscription = Timing & {
  vendor: string
  id: string
  ambiguous: boolean
  /** The event that speaks for it. */
  event_id: string
  items: readonly Item[]
}

/** A grant that was not revoked. Times in ms. */
export type Grant = {
  id: string
  feature: string | null
  plan_id: string | null
  effect: Effect
  value: unknown
  /** Null: since it was made. */
  starts_at: number | null
  expires_at: number | null
}

/** The catalog and the settings of a project. */
export type Catalog = { features: readonly Feature[]; plans: readonly Plan[]; rules: Rules }

/** A consumer with what it has. `state`: null if there is no such consumer. */
export type Holder = {
  state: string | null
  subscriptions: readonly Subscription[]
  grants: readonly Grant[]
}
