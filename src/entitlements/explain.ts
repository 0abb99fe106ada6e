import type * as z from 'zod'
import { Fault } from '../lib/fault'
import { iso, isoOrNull } from '../lib/time'
import type { ConsumerFacts, FeatureFact, GrantFact, IndexedCatalog } from './facts'
import type { EntitlementShown } from './fields'
import { countSources } from './holders'
import { MAX_EXPLAINED, MAX_EXPLANATION_BYTES } from './limits'
import { type DecidedEntitlement, type Entitlement, type Reason, resolve, resolver } from './resolve'
import { type EntitlementSource, whyOf } from './sources'
import { NOTHING_NAMED, notMapped, outrankedBy, whyInWords, whyNever } from './why-not'

/**
 * What a consumer may do with each of these features, and why.
 *
 * @param keys of features, which the catalog may lack
 * @throws {Fault} `payload_too_large`
 */
export function explainAsked(keys: readonly string[], holder: ConsumerFacts, catalog: IndexedCatalog, now: number) {
  // Each feature is explained by all items and grants, so both together decide how long the answer takes.
  if (keys.length * countSources(holder) > MAX_EXPLAINED) throw tooLong()
  let bytes = 0
  const explained = keys.map((key) => {
    const one = resolve(key, holder, catalog, now)
    const feature = catalog.byKey.get(key)
    const sources = feature ? explain(feature, one, holder, now) : []
    bytes += JSON.stringify([one.value, sources]).length
    if (bytes > MAX_EXPLANATION_BYTES) throw tooLong()
    return [key, { ...presentEntitlement(one), sources }] as const
  })
  return Object.fromEntries(explained)
}

function tooLong(): Fault {
  return new Fault(
    'payload_too_large',
    'This consumer has too many subscriptions, purchases, items or grants to explain these features. Request fewer features with `feature`, or leave out `explain`.',
  )
}

/** What could give or deny a feature, as the API shows it. What does not count is there too, with the reason. */
function explain(
  { key, type }: FeatureFact,
  { sources, reason }: DecidedEntitlement,
  { subscriptions, purchases, grants }: ConsumerFacts,
  now: number,
) {
  return [
    ...sources.map(({ why, cause, plan, from, until, ...source }) => ({
      ...source,
      // Only a config can be long. One that does not count is shown where it stands: in the plan or the grant.
      value: type === 'config' && !source.counted ? null : source.value,
      plan: plan?.key ?? null,
      from: isoOrNull(from),
      until: isoOrNull(until),
      why_not: source.counted ? null : (cause ?? whyNot(why, source.type, reason)),
    })),
    ...grants.filter((grant) => grant.effect === 'deny' && grant.feature === key).map((grant) => denial(grant, now)),
    ...subscriptions.flatMap(({ vendor, id, event_id, ambiguous, items }) =>
      items
        .filter(({ plan_id }) => plan_id === null)
        .map((item) =>
          withoutPlan(
            'subscription',
            { vendor, id, event_id, ambiguous, price: item.price, seats: item.quantity },
            notMapped(item),
          ),
        ),
    ),
    ...purchases.flatMap(givesNothing),
  ]
}

type Paid = Pick<EntitlementSource, 'vendor' | 'id' | 'event_id' | 'ambiguous' | 'price' | 'seats'>

/** What was paid for and gives no plan. */
function withoutPlan<T extends 'subscription' | 'purchase'>(
  type: T,
  { id, vendor, price, seats, event_id, ambiguous }: Paid,
  why_not: string,
) {
  return {
    type,
    id,
    vendor,
    plan: null,
    price,
    seats,
    value: null,
    from: null,
    until: null,
    event_id,
    ambiguous,
    counted: false,
    why_not,
  }
}

/** What of a purchase gives nothing, whatever its state is. */
function givesNothing({ vendor, id, event_id, ambiguous, items }: ConsumerFacts['purchases'][number]) {
  const said = (why_not: string, price: string | null, seats: number | null) =>
    withoutPlan('purchase', { vendor, id, event_id, ambiguous, price, seats }, why_not)
  if (items.length === 0) return [said(NOTHING_NAMED, null, null)]
  return items.flatMap((item) => {
    const why = whyNever(item)
    return why === null ? [] : [said(why, item.price ?? item.variant ?? null, item.quantity)]
  })
}

function whyNot(why: EntitlementSource['why'], type: EntitlementSource['type'], reason: Reason): string {
  return why === null ? (outrankedBy(reason) ?? 'Another source includes more.') : whyInWords(why, type)
}

/** A grant that denies. It counts while it is live. */
function denial(grant: GrantFact, now: number) {
  const { id, starts_at, expires_at } = grant
  const why = whyOf(grant, now)
  return {
    type: 'grant' as const,
    id,
    vendor: null,
    plan: null,
    price: null,
    seats: null,
    value: null,
    from: isoOrNull(starts_at),
    until: isoOrNull(expires_at),
    event_id: null,
    ambiguous: false,
    counted: why === null,
    why_not: why && whyInWords(why, 'grant'),
  }
}

/** An entitlement as the API shows it. */
export function presentEntitlement({
  allowed,
  value,
  reason,
  valid_until,
}: Entitlement): z.infer<typeof EntitlementShown> {
  return { allowed, value, reason, valid_until: valid_until === null ? null : iso(valid_until) }
}

/** What a consumer may do with each of these features. */
export function presentAsked(
  keys: readonly string[],
  holder: ConsumerFacts,
  catalog: IndexedCatalog,
  now: number,
): Record<string, z.infer<typeof EntitlementShown>> {
  const entitlementOf = resolver(holder, catalog, now)
  return Object.fromEntries(keys.map((key) => [key, presentEntitlement(entitlementOf(key))]))
}
