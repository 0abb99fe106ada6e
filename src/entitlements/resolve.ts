import { type FeatureType, UNLIMITED } from '../catalog/values'
import { condensed } from './alike'
import type { ConsumerFacts, FeatureFact, IndexedCatalog } from './facts'
import { type EntitlementSource, hasAccess, isDenied, sourcesOf } from './sources'
import { earliest, WHY_NOT } from './window'

/** Why a feature is allowed, or why it is not. */
export const REASONS = [
  'plan',
  'default',
  'grant',
  'not_included',
  'no_subscription',
  'past_due',
  'refunded',
  'disputed',
  'expired',
  'denied',
  'test_mode',
  'unknown_status',
  'unknown_consumer',
  'unknown_feature',
  'consumer_blocked',
  'consumer_erased',
  'consumer_merged',
] as const
export type Reason = (typeof REASONS)[number]

/** `valid_until`: when the answer may change by itself (ms); null if no time is known. */
export type Entitlement = { allowed: boolean; value: unknown; reason: Reason; valid_until: number | null }
/** An entitlement with what could give it, and which of that did. */
export type DecidedEntitlement = Entitlement & { sources: (EntitlementSource & { counted: boolean })[] }

/** The reason of each state in which a consumer has nothing. */
const STATES: Record<string, Reason> = {
  blocked: 'consumer_blocked',
  erased: 'consumer_erased',
  merged: 'consumer_merged',
}
/** The reason for which a consumer in a state has nothing; null if it can have something. */
export function reasonOfState(state: string): Reason | null {
  return STATES[state] ?? null
}
/** The value of a feature that is not allowed. */
const NOTHING: Record<FeatureType, unknown> = { boolean: false, quantity: 0, config: null }

/**
 * Decides what a consumer may do with one feature. Pure: a function of what was read and of the time.
 *
 * @param key of the feature, which the catalog may lack
 * @param now milliseconds
 */
export function resolve(key: string, holder: ConsumerFacts, catalog: IndexedCatalog, now: number): DecidedEntitlement {
  const feature = catalog.byKey.get(key)
  if (!feature) return refused(null, 'unknown_feature')
  if (holder.state === null) return refused(feature, 'unknown_consumer')
  const sources = sourcesOf(feature, holder, catalog, now)
  const state = reasonOfState(holder.state)
  if (state) return refused(feature, state, sources)
  if (isDenied(key, holder.grants, now)) return refused(feature, 'denied', sources)
  const giving = sources.filter(({ why }) => why === null)
  const { value, counted } = combined(feature, giving)
  // A quantity of 0 is as good as none.
  const gives = (amount: unknown) => feature.type !== 'quantity' || amount !== 0
  if (counted.length > 0 && gives(value)) {
    const counting = new Set(counted) // of thousands, perhaps
    return {
      allowed: true,
      value,
      reason: reasonOf(counted),
      valid_until: earliest(counted.map(({ until }) => until)),
      sources: sources.map((source) => ({ ...source, counted: counting.has(source) })),
    }
  }
  const why = WHY_NOT.find((one) => sources.some((source) => source.why === one && gives(source.value)))
  if (why) return refused(feature, why, sources)
  const included = giving.length > 0 || hasAccess(holder, catalog, now)
  return refused(feature, included ? 'not_included' : 'no_subscription', sources)
}

/**
 * As {@link resolve}, for one feature after the other, without what each comes from. Items that are alike are looked at once.
 *
 * @param now milliseconds
 */
export function resolver(holder: ConsumerFacts, catalog: IndexedCatalog, now: number): (key: string) => Entitlement {
  const few = condensed(holder, catalog.rules, now)
  return (key) => {
    const { allowed, value, reason, valid_until } = resolve(key, few, catalog, now)
    return { allowed, value, reason, valid_until }
  }
}

/** Whoever has the default plan has no other one, so only grants of features can count beside it. */
function reasonOf(counted: readonly EntitlementSource[]): Reason {
  const paid = counted.find(({ type }) => type !== 'grant')
  if (!paid) return 'grant'
  return paid.type === 'default' ? 'default' : 'plan'
}

function refused(
  feature: FeatureFact | null,
  reason: Reason,
  sources: readonly EntitlementSource[] = [],
): DecidedEntitlement {
  return {
    allowed: false,
    value: feature === null ? null : NOTHING[feature.type],
    reason,
    valid_until: null,
    sources: sources.map((source) => ({ ...source, counted: false })),
  }
}

/** The value of several sources, and the sources that it comes from. */
function combined(
  { type, combine }: FeatureFact,
  giving: readonly EntitlementSource[],
): { value: unknown; counted: EntitlementSource[] } {
  if (type === 'boolean') return { value: true, counted: [...giving] }
  if (type === 'config') {
    const counted = giving.toSorted(byPrecedence).slice(0, 1)
    return { value: counted[0]?.value, counted }
  }
  const amounts = giving.map(({ value }) => amountOf(value))
  if (combine === 'sum') {
    const sum = amounts.reduce((total, amount) => total + amount, 0)
    return { value: shown(sum), counted: giving.filter(({ value }) => amountOf(value) > 0) }
  }
  // Not spread into arguments: there can be hundreds of thousands of them.
  const most = amounts.reduce((a, b) => Math.max(a, b), 0)
  return { value: shown(most), counted: giving.filter(({ value }) => amountOf(value) === most) }
}

/** A quantity as a number. Unlimited is more than every other. */
export function amountOf(value: unknown): number {
  return value === UNLIMITED ? Number.POSITIVE_INFINITY : Number(value)
}

function shown(amount: number): unknown {
  return amount === Number.POSITIVE_INFINITY ? UNLIMITED : Math.min(amount, Number.MAX_SAFE_INTEGER)
}

/**
 * Which config counts: that of a grant of the feature itself, the newest; then a granted plan, then one that was bought, each by the
 * highest rank and then by the plan's key. Of one plan, the source that lasts longest.
 */
function byPrecedence(a: EntitlementSource, b: EntitlementSource): number {
  return (
    classOf(a) - classOf(b) ||
    (a.plan && b.plan ? b.plan.rank - a.plan.rank || compare(a.plan.key, b.plan.key) : compare(b.id, a.id)) ||
    (b.until ?? Number.MAX_VALUE) - (a.until ?? Number.MAX_VALUE) ||
    compare(a.id, b.id)
  )
}

function classOf({ type, plan }: EntitlementSource): number {
  if (type !== 'grant') return 2
  return plan === null ? 0 : 1
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
