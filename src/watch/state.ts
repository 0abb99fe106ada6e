import type { FeatureChange } from '../changes/schema'
import { boughtBy } from '../entitlements/bought'
import type { ConsumerFacts, IndexedCatalog } from '../entitlements/facts'
import { type Reason, resolver } from '../entitlements/resolve'
import { accessOf, canGiveAgain, earliest } from '../entitlements/window'

/** What a consumer is allowed at a time. */
export type Allowed = {
  /** The values of the features that it is allowed, by their keys. */
  features: Record<string, unknown>
  /** Why each feature is allowed or not. */
  reasonOf: (key: string) => Reason
  /** The times at which it may become different by itself (ms), past ones too. */
  turns: readonly number[]
  /** Whether it could be allowed more, by time or by a change of the catalog or the settings. */
  mayGain: boolean
}

/** @param now milliseconds */
export function allowedTo(holder: ConsumerFacts, catalog: IndexedCatalog, now: number): Allowed {
  const entitlementTo = resolver(holder, catalog, now)
  const answers = catalog.features.map(({ key }) => [key, entitlementTo(key)] as const)
  const allowed = answers.filter(([, answer]) => answer.allowed).map(([key, { value }]) => [key, value] as const)
  // All of them, and not only what the answers come from: a denial ends too, and what is denied has no end.
  const turns = [
    ...holder.subscriptions.map((one) => accessOf(one, catalog.rules, now).until),
    ...boughtBy(holder.purchases, catalog.rules, now).flatMap(({ from, until }) => [from, until]),
    ...holder.grants.flatMap(({ starts_at, expires_at }) => [starts_at, expires_at]),
  ].filter((time) => time !== null)
  const isActive = holder.state === 'active'
  const isLeft = ({ expires_at }: { expires_at: number | null }) => expires_at === null || expires_at > now
  return {
    features: Object.fromEntries(allowed),
    reasonOf: (key) => entitlementTo(key).reason,
    turns: isActive ? turns : [],
    mayGain:
      isActive &&
      (catalog.rules.default_plan !== null ||
        holder.subscriptions.some(canGiveAgain) ||
        holder.purchases.length > 0 ||
        holder.grants.some(isLeft)),
  }
}

/** The first of these times that is still ahead (ms); null if none is. */
export function nextTurn({ turns }: Allowed, now: number): number | null {
  return earliest(turns.filter((time) => time > now))
}

/** The features whose values are not what they were. Only what is allowed is compared. */
export function differences(before: Record<string, unknown>, { features: after, reasonOf }: Allowed): FeatureChange[] {
  const valueIn = (values: Record<string, unknown>, key: string) => (Object.hasOwn(values, key) ? values[key] : null)
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return keys.flatMap((key) => {
    const [was, is] = [valueIn(before, key), valueIn(after, key)]
    return textOf(was) === textOf(is) ? [] : [{ key, before: was, after: is, reason: reasonOf(key) }]
  })
}

/** A value as text, whatever the order of its keys. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
