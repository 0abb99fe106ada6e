import type { Again } from '../catalog/lasting'
import type { FeatureType, PlanFeatures } from '../catalog/values'
import type { GrantEffect } from '../consumers/schema'
import type { Rules, Timing } from './window'

/*
 * What entitlements are derived from: rows of the database, as read.
 */

export type FeatureFact = { key: string; type: FeatureType; combine: 'max' | 'sum' | null }

export type PlanFact = { id: string; key: string; rank: number; features: PlanFeatures }

/**
 * An item of a subscription. `plan_id`: of the first of its {@link refsIn} that is mapped; null if none is. `times`: how many items it
 * stands for, if it is not for itself alone.
 */
export type Item = {
  price: string | null
  /** A second id of the price, which only some vendors have. */
  variant?: string | null
  product: string | null
  quantity: number | null
  plan_id: string | null
  /** How long a one-time payment of it gives the plan, and what a second one does. Null: it gives nothing. */
  lasts?: string | null
  again?: Again | null
  times?: number
}

/** The ids of an item that a plan can be mapped by, the first mapped one counts: of its price, then of its product. */
export function refsIn({ price, variant = null, product }: Pick<Item, 'price' | 'variant' | 'product'>): string[] {
  return [price, variant, product].filter((ref) => ref !== null)
}

export type SubscriptionFact = Timing & {
  vendor: string
  id: string
  /** The vendor's id of the customer. */
  customer: string | null
  ambiguous: boolean
  /** The event that speaks for it. */
  event_id: string
  items: readonly Item[]
}

/** An item of a purchase. `returned`: how many of the quantity came back. */
export type BoughtItem = Item & { returned: number }

/** A one-time purchase. Times in ms. */
export type PurchaseFact = {
  vendor: string
  id: string
  customer: string | null
  status: string
  livemode: boolean | null
  ambiguous: boolean
  /** The event of the newest of its parts. */
  event_id: string
  paid_at: number | null
  items: readonly BoughtItem[]
  /** The last refund that stands, and the last dispute that is open or lost. Null if none is known. */
  refund: { id: string; event_id: string; revokes: boolean } | null
  dispute: { id: string; event_id: string } | null
}

/** A grant that was not revoked. Times in ms. */
export type GrantFact = {
  id: string
  feature: string | null
  plan_id: string | null
  effect: GrantEffect
  value: unknown
  /** Null: since it was made. */
  starts_at: number | null
  expires_at: number | null
}

/** The catalog and the settings of a project. */
export type Catalog = { features: readonly FeatureFact[]; plans: readonly PlanFact[]; rules: Rules }

/** A catalog that finds a feature by its key and a plan by its id. It is made once for a request, which asks thousands of times. */
export type IndexedCatalog = Catalog & {
  byKey: ReadonlyMap<string, FeatureFact>
  byId: ReadonlyMap<string, PlanFact>
}

export function indexed(catalog: Catalog): IndexedCatalog {
  const byKey = new Map(catalog.features.map((feature) => [feature.key, feature]))
  return { ...catalog, byKey, byId: new Map(catalog.plans.map((plan) => [plan.id, plan])) }
}

/** A consumer with what it has. `state`: null if there is no such consumer. */
export type ConsumerFacts = {
  state: string | null
  subscriptions: readonly SubscriptionFact[]
  purchases: readonly PurchaseFact[]
  grants: readonly GrantFact[]
}
