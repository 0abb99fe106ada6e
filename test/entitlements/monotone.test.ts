import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { condensed } from '../../src/entitlements/alike'
import {
  type Catalog,
  type ConsumerFacts,
  type GrantFact,
  type IndexedCatalog,
  indexed,
  type PurchaseFact,
  type SubscriptionFact,
} from '../../src/entitlements/facts'
import { type Entitlement, resolve, resolver } from '../../src/entitlements/resolve'
import { DAY } from '../../src/lib/time'

/* An allow never takes anything away, a deny never gives anything, and what is alike counts together, whatever else a consumer has. */

const NOW = 1000 * DAY
const KEYS = ['flag', 'most', 'sum', 'conf'] as const
const amount = fc.constantFrom(0, 1, 7, Number.MAX_SAFE_INTEGER, 'unlimited' as const)
const VALUES = { flag: fc.constant(true), most: amount, sum: amount, conf: fc.constantFrom('x', 'y') }
const key = fc.constantFrom(...KEYS)
const time = fc.option(fc.integer({ min: -2, max: 2 }).map((days) => NOW + days * DAY))

const plan = (id: string) =>
  fc
    .record({ rank: fc.nat(2), values: fc.record(VALUES, { requiredKeys: [] }), per_seat: fc.boolean() })
    .map((one) => ({
      ...{ id, key: id, rank: one.rank },
      features: Object.fromEntries(
        Object.entries(one.values).map(([name, value]) => [
          name,
          { value, per_seat: one.per_seat && typeof value === 'number' },
        ]),
      ),
    }))
const read: fc.Arbitrary<Catalog> = fc.record({
  features: fc.constant([
    { key: 'flag', type: 'boolean' as const, combine: null },
    { key: 'most', type: 'quantity' as const, combine: 'max' as const },
    { key: 'sum', type: 'quantity' as const, combine: 'sum' as const },
    { key: 'conf', type: 'config' as const, combine: null },
  ]),
  plans: fc.tuple(plan('a'), plan('b')).map((plans) => [...plans]),
  rules: fc.record({
    grace_days: fc.option(fc.nat(2)),
    renewal_slack_hours: fc.constantFrom(0, 48),
    test_mode_counts: fc.boolean(),
    purchase_rules: fc.record({
      refunded_part: fc.constantFrom('keep', 'end'),
      refunded_whole: fc.constantFrom('keep', 'end'),
      dispute_open: fc.constantFrom('suspend', 'keep'),
      dispute_lost: fc.constantFrom('keep', 'end'),
    }),
    subscription_reversed: fc.constantFrom('keep', 'end'),
    default_plan: fc.constantFrom(null, 'a'),
  }),
})
const catalog = read.map(indexed)
/** Of a project without a default plan: whoever gets a plan loses that. */
const plain = read.map((one) => indexed({ ...one, rules: { ...one.rules, default_plan: null } }))
const subscription: fc.Arbitrary<SubscriptionFact> = fc.record({
  vendor: fc.constantFrom('stripe', 'paddle'),
  id: fc.constantFrom('sub_1', 'sub_2'),
  customer: fc.constant('cus_1'),
  status: fc.constantFrom('active', 'trialing', 'past_due', 'unpaid', 'canceled', 'unknown'),
  livemode: fc.constantFrom(true, false, null),
  period_start: time,
  period_end: time,
  cancel_at: time,
  past_due_since: time,
  updated_at: time,
  ambiguous: fc.boolean(),
  event_id: fc.constant('evt_1'),
  items: fc.array(
    fc.record({
      price: fc.constant('price_1'),
      product: fc.constant(null),
      quantity: fc.option(fc.nat(3)),
      plan_id: fc.constantFrom('a', 'b', null),
    }),
    { maxLength: 2 },
  ),
})
const part = fc.option(fc.record({ id: fc.constant('re_1'), event_id: fc.constant('evt_3'), revokes: fc.boolean() }))
const purchase: fc.Arbitrary<PurchaseFact> = fc.record({
  ...{ vendor: fc.constant('stripe'), customer: fc.constant('cus_1'), event_id: fc.constant('evt_2') },
  id: fc.constantFrom('pi_1', 'pi_2', 'pi_3'),
  status: fc.constantFrom(
    'paid',
    'paid',
    'partially_refunded',
    'refunded',
    'disputed',
    'charged_back',
    'pending',
    'unknown',
  ),
  livemode: fc.constantFrom(true, false, null),
  ambiguous: fc.boolean(),
  paid_at: time,
  items: fc.array(
    fc.record({
      ...{ price: fc.constant('price_1'), product: fc.constant(null) },
      quantity: fc.option(fc.nat(3)),
      returned: fc.constantFrom(0, 0, 1),
      plan_id: fc.constantFrom('a', 'b', null),
      lasts: fc.constantFrom('forever', 'P1D', 'P2D', null),
      again: fc.constantFrom('after', 'beside', null),
    }),
    { maxLength: 2 },
  ),
  refund: part,
  dispute: part,
})
let made = 0
const when = { starts_at: time, expires_at: time }
const own = (grant: Partial<GrantFact>): GrantFact => {
  made += 1
  const id = `grt_${String(made).padStart(9, '0')}`
  return { id, feature: null, plan_id: null, effect: 'allow', value: null, starts_at: null, expires_at: null, ...grant }
}
const allowFeature: fc.Arbitrary<GrantFact> = key.chain((feature) =>
  fc.record({ feature: fc.constant(feature), value: VALUES[feature], ...when }).map(own),
)
const allow: fc.Arbitrary<GrantFact> = fc.oneof(
  allowFeature,
  fc.record({ plan_id: fc.constantFrom('a', 'b'), ...when }).map(own),
)
const deny: fc.Arbitrary<GrantFact> = fc
  .record({ feature: key, effect: fc.constant('deny' as const), ...when })
  .map(own)
const holder: fc.Arbitrary<ConsumerFacts> = fc.record({
  state: fc.constantFrom('active', 'active', 'active', 'blocked'),
  subscriptions: fc.array(subscription, { maxLength: 3 }),
  purchases: fc.array(purchase, { maxLength: 3 }),
  grants: fc.array(fc.oneof(allow, deny), { maxLength: 3 }),
})

/** How much an answer gives. */
const given = ({ allowed, value }: Entitlement): number =>
  value === 'unlimited' ? Number.POSITIVE_INFINITY : typeof value === 'number' ? value : Number(allowed)

describe('purchases', () => {
  it('change no answer of a catalog without mappings that last', () => {
    fc.assert(
      fc.property(catalog, holder, (sold, one) => {
        const lastless = one.purchases.map((bought) => ({
          ...bought,
          items: bought.items.map((item) => ({ ...item, lasts: null })),
        }))
        const without = resolver({ ...one, purchases: [] }, sold, NOW)
        const entitlementOf = resolver({ ...one, purchases: lastless }, sold, NOW)
        for (const key of [...KEYS, 'unknown']) expect(entitlementOf(key)).toEqual(without(key))
      }),
      { numRuns: 2000 },
    )
  })

  it('do not depend on the order in which they are read, and one more takes nothing away', () => {
    fc.assert(
      fc.property(plain, holder, purchase, (sold, one, more) => {
        const was = resolver(one, sold, NOW)
        const turned = resolver({ ...one, purchases: one.purchases.toReversed() }, sold, NOW)
        // One that is paid later than all others moves none of them.
        const later = {
          ...more,
          id: 'pi_9',
          paid_at: NOW,
          items: more.items.map((item) => ({ ...item, again: 'beside' as const })),
        }
        const is = resolver({ ...one, purchases: [...one.purchases, later] }, sold, NOW)
        for (const key of KEYS) {
          if (new Set(one.purchases.map(({ id }) => id)).size === one.purchases.length)
            expect(turned(key)).toEqual(was(key))
          if (key !== 'conf') expect(given(is(key))).toBeGreaterThanOrEqual(given(was(key)))
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a default plan', () => {
  it('takes nothing away, and gives nothing to whoever has a plan', () => {
    fc.assert(
      fc.property(plain, holder, (sold, one) => {
        const defaulting = { ...sold, rules: { ...sold.rules, default_plan: 'a' } }
        for (const key of KEYS) {
          const { sources: _, ...was } = resolve(key, one, sold, NOW)
          const { sources, ...is } = resolve(key, one, defaulting, NOW)
          const counts = sources.some(({ type, counted }) => type === 'default' && counted)
          expect(is.reason === 'default').toBe(counts)
          if (counts) expect(given(is)).toBeGreaterThanOrEqual(given(was))
          else expect({ ...is, reason: null }).toEqual({ ...was, reason: null })
          const hasPlan = sources.some(({ type, plan, counted }) => type !== 'default' && plan !== null && counted)
          expect(counts && hasPlan).toBe(false)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('items that are alike', () => {
  it('are looked at once, and give what all of them give', () => {
    fc.assert(
      fc.property(catalog, holder, fc.integer({ min: 1, max: 4 }), (sold, one, times) => {
        const has = { ...one, subscriptions: Array.from({ length: times }, () => one.subscriptions).flat() }
        const entitlementOf = resolver(has, sold, NOW)
        for (const key of [...KEYS, 'unknown']) {
          const { sources: _, ...answer } = resolve(key, has, sold, NOW)
          expect(entitlementOf(key)).toEqual(answer)
        }
        const different = one.subscriptions.reduce((sum, { items }) => sum + Math.max(1, items.length), 0)
        expect(condensed(has, sold.rules, NOW).subscriptions.length).toBeLessThanOrEqual(different)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('one more grant', () => {
  const after = (has: ConsumerFacts, grant: GrantFact) => ({ ...has, grants: [...has.grants, grant] })
  const compare = (
    from: fc.Arbitrary<IndexedCatalog>,
    added: fc.Arbitrary<GrantFact>,
    rule: (before: Entitlement, now: Entitlement, key: string) => void,
  ) =>
    fc.assert(
      fc.property(from, holder, added, (sold, has, grant) => {
        for (const one of KEYS) rule(resolve(one, has, sold, NOW), resolve(one, after(has, grant), sold, NOW), one)
      }),
      { numRuns: 2000 },
    )

  it('that allows takes nothing away', () => {
    const more = (before: Entitlement, now: Entitlement) => expect(given(now)).toBeGreaterThanOrEqual(given(before))
    compare(plain, allow, more)
    compare(catalog, allowFeature, more)
  })

  it('that denies gives nothing', () => {
    compare(catalog, deny, (before, now) => expect(given(now)).toBeLessThanOrEqual(given(before)))
  })

  it('does not depend on the order in which things are read', () => {
    fc.assert(
      fc.property(catalog, holder, (sold, has) => {
        const turned = { ...has, subscriptions: has.subscriptions.toReversed(), grants: has.grants.toReversed() }
        for (const one of KEYS) {
          const { sources: _, ...answer } = resolve(one, has, sold, NOW)
          expect(resolve(one, turned, sold, NOW)).toMatchObject(answer)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
