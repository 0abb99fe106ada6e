import { describe, expect, it } from 'vitest'
import { type ConsumerFacts, type GrantFact, indexed, type SubscriptionFact } from '../../src/entitlements/facts'
import { resolve } from '../../src/entitlements/resolve'
import { DAY } from '../../src/lib/time'
import { DEFAULTS } from '../../src/tenancy/settings'

const NOW = 1000 * DAY
const plan = (id: string, rank: number, features: Record<string, unknown>, perSeat: string[] = []) => ({
  id,
  key: id,
  rank,
  features: Object.fromEntries(
    Object.entries(features).map(([key, value]) => [key, { value, per_seat: perSeat.includes(key) }]),
  ),
})
const CATALOG = indexed({
  features: [
    { key: 'sso', type: 'boolean', combine: null },
    { key: 'seats', type: 'quantity', combine: 'max' },
    { key: 'extra', type: 'quantity', combine: 'sum' },
    { key: 'limits', type: 'config', combine: null },
  ],
  plans: [
    plan('free', 0, { seats: 1, extra: 0, limits: 'free' }),
    plan('team', 5, { sso: true, seats: 5, extra: 10, limits: 'team' }, ['seats']),
    plan('also', 5, { limits: 'also' }),
    plan('top', 9, { seats: 'unlimited', extra: 'unlimited', limits: 'top' }),
  ],
  rules: { ...DEFAULTS, grace_days: 7, renewal_slack_hours: 0, test_mode_counts: false },
})

function sub(
  planId: string | null,
  more: Partial<SubscriptionFact> = {},
  quantity: number | null = 1,
): SubscriptionFact {
  return {
    ...{ vendor: 'stripe', id: `sub_${planId}`, status: 'active', ambiguous: false, event_id: 'evt_1', livemode: true },
    customer: 'cus_1',
    ...{ period_start: NOW - DAY, period_end: NOW + DAY, cancel_at: null, past_due_since: null, updated_at: NOW },
    items: [{ price: 'price_1', product: null, quantity, plan_id: planId }],
    ...more,
  }
}
const CANCELED = { status: 'canceled' }
const UNPAID = { status: 'unpaid' }
const TEST = { livemode: false }
const UNKNOWN = { status: 'unknown' }

function grant(feature: string | null, value: unknown, more: Partial<GrantFact> = {}): GrantFact {
  return {
    ...{ id: `grt_${feature}`, feature, plan_id: null, effect: 'allow', value, starts_at: null, expires_at: null },
    ...more,
  }
}
const ofPlan = (plan_id: string, more: Partial<GrantFact> = {}) => grant(null, null, { plan_id, ...more })
const deny = (feature: string, more: Partial<GrantFact> = {}) => grant(feature, null, { effect: 'deny', ...more })

type Case = [
  what: string,
  feature: string,
  has: Partial<ConsumerFacts>,
  expected: [reason: string, value: unknown, valid_until?: number | null],
]
const CASES: Case[] = [
  ['a plan', 'sso', { subscriptions: [sub('team')] }, ['plan', true, NOW + DAY]],
  ['a grant', 'sso', { grants: [grant('sso', true, { expires_at: NOW + 1 })] }, ['grant', true, NOW + 1]],
  ['a granted plan', 'seats', { grants: [ofPlan('team')] }, ['grant', 5, null]],
  [
    'a plan and a grant: the first to end bounds the answer',
    'sso',
    { subscriptions: [sub('team')], grants: [grant('sso', true, { expires_at: NOW + 5 })] },
    ['plan', true, NOW + 5],
  ],
  ['seats', 'seats', { subscriptions: [sub('team', {}, 3)] }, ['plan', 15, NOW + DAY]],
  [
    'a quantity that the vendor does not say',
    'seats',
    { subscriptions: [sub('team', {}, null)] },
    ['plan', 5, NOW + DAY],
  ],
  ...[0, false, ''].flatMap((value): Case[] => [
    [`the config ${JSON.stringify(value)}`, 'limits', { grants: [grant('limits', value)] }, ['grant', value, null]],
    [
      `the config ${JSON.stringify(value)}, which has expired`,
      'limits',
      { grants: [grant('limits', value, { expires_at: NOW })] },
      ['expired', null],
    ],
  ]),
  [
    'of equal configs of one plan the one that lasts longest',
    'limits',
    {
      subscriptions: [
        sub('team', { id: 'a' }),
        sub('team', { id: 'b', period_end: NOW + 9 * DAY }),
        sub('team', { id: 'c' }),
      ],
    },
    ['plan', 'team', NOW + 9 * DAY],
  ],
  ['no seats', 'seats', { subscriptions: [sub('team', {}, 0)] }, ['not_included', 0]],
  [
    'the greatest',
    'seats',
    { subscriptions: [sub('free', { period_end: NOW + 1 }), sub('team')] },
    ['plan', 5, NOW + DAY],
  ],
  [
    'a greater grant',
    'seats',
    { subscriptions: [sub('team')], grants: [grant('seats', 6, { expires_at: NOW + 9 })] },
    ['grant', 6, NOW + 9],
  ],
  [
    'unlimited beats all',
    'seats',
    { subscriptions: [sub('team', {}, 99), sub('top')] },
    ['plan', 'unlimited', NOW + DAY],
  ],
  [
    'the sum',
    'extra',
    { subscriptions: [sub('team')], grants: [grant('extra', 2, { expires_at: NOW + 9 })] },
    ['plan', 12, NOW + 9],
  ],
  ['a sum with unlimited', 'extra', { subscriptions: [sub('team'), sub('top')] }, ['plan', 'unlimited', NOW + DAY]],
  [
    'a sum beyond all numbers',
    'extra',
    { grants: [grant('extra', Number.MAX_SAFE_INTEGER), grant('extra', 5)] },
    ['grant', Number.MAX_SAFE_INTEGER, null],
  ],
  ['a quantity of 0', 'extra', { subscriptions: [sub('free')] }, ['not_included', 0]],
  ['the highest rank', 'limits', { subscriptions: [sub('free'), sub('top'), sub('team')] }, ['plan', 'top', NOW + DAY]],
  ['ranks that tie: the key', 'limits', { subscriptions: [sub('team'), sub('also')] }, ['plan', 'also', NOW + DAY]],
  [
    'a granted config',
    'limits',
    {
      subscriptions: [sub('top')],
      grants: [grant('limits', 'a', { id: 'grt_1' }), grant('limits', 'b', { id: 'grt_2' })],
    },
    ['grant', 'b', null],
  ],
  [
    'a granted plan with a config',
    'limits',
    { subscriptions: [sub('top')], grants: [ofPlan('free')] },
    ['grant', 'free', null],
  ],
  ['nothing', 'sso', {}, ['no_subscription', false]],
  ['a plan without the feature', 'sso', { subscriptions: [sub('free')] }, ['not_included', false]],
  ['a price without a plan', 'sso', { subscriptions: [sub(null)] }, ['not_included', false]],
  ['a grant of something else', 'sso', { grants: [grant('seats', 1)] }, ['no_subscription', false]],
  ['what was canceled', 'limits', { subscriptions: [sub('team', CANCELED)] }, ['expired', null]],
  [
    'what was canceled, and another plan',
    'sso',
    { subscriptions: [sub('team', CANCELED), sub('free')] },
    ['expired', false],
  ],
  ['another plan that was canceled', 'sso', { subscriptions: [sub('free', CANCELED)] }, ['no_subscription', false]],
  ['a quantity of 0 that is unpaid', 'extra', { subscriptions: [sub('free', UNPAID)] }, ['no_subscription', 0]],
  ['what is unpaid', 'seats', { subscriptions: [sub('team', UNPAID), sub('team', CANCELED)] }, ['past_due', 0]],
  ['an expired grant', 'sso', { grants: [grant('sso', true, { expires_at: NOW })] }, ['expired', false]],
  ['a grant that begins now', 'sso', { grants: [grant('sso', true, { starts_at: NOW })] }, ['grant', true, null]],
  ['a later grant', 'sso', { grants: [grant('sso', true, { starts_at: NOW + 1 })] }, ['no_subscription', false]],
  ['test mode', 'sso', { subscriptions: [sub('team', TEST)] }, ['test_mode', false]],
  ['test mode alone gives no access', 'sso', { subscriptions: [sub('free', TEST)] }, ['no_subscription', false]],
  [
    'what was canceled in test mode',
    'sso',
    { subscriptions: [sub('team', { ...TEST, ...CANCELED })] },
    ['expired', false],
  ],
  ['an unknown status', 'sso', { subscriptions: [sub('team', UNKNOWN)] }, ['unknown_status', false]],
  [
    'test mode beside an unknown status',
    'sso',
    { subscriptions: [sub('team', UNKNOWN), sub('team', TEST)] },
    ['test_mode', false],
  ],
  ['a denial', 'seats', { subscriptions: [sub('team')], grants: [deny('seats'), grant('seats', 9)] }, ['denied', 0]],
  [
    'a denial that is over',
    'sso',
    { subscriptions: [sub('team')], grants: [deny('sso', { expires_at: NOW })] },
    ['plan', true, NOW + DAY],
  ],
  [
    'a denial of something else',
    'sso',
    { subscriptions: [sub('team')], grants: [deny('seats')] },
    ['plan', true, NOW + DAY],
  ],
  [
    'a blocked consumer',
    'sso',
    { state: 'blocked', subscriptions: [sub('team')], grants: [deny('sso')] },
    ['consumer_blocked', false],
  ],
  ['an erased consumer', 'limits', { state: 'erased' }, ['consumer_erased', null]],
  ['a merged consumer', 'seats', { state: 'merged' }, ['consumer_merged', 0]],
  ['no consumer', 'seats', { state: null }, ['unknown_consumer', 0]],
  ['no feature', 'nope', { state: null }, ['unknown_feature', null]],
  ['a name that every object has', 'constructor', { subscriptions: [sub('team')] }, ['unknown_feature', null]],
]

describe('the answer for', () => {
  it.each(CASES)('%s', (_, feature, has, [reason, value, until = null]) => {
    const holder = { state: 'active', subscriptions: [], purchases: [], grants: [], ...has }
    const allowed = reason === 'plan' || reason === 'grant'
    const { sources: _sources, ...answer } = resolve(feature, holder, CATALOG, NOW)
    expect(answer).toEqual({ allowed, value, reason, valid_until: until })
  })
})
