import { DAY, HOUR, isoDay } from '../lib/time'
import type { ENTITLEMENT_SETTINGS, Settings } from '../tenancy/settings'

/** The settings of a project that decide about entitlements. */
export type Rules = Pick<Settings, (typeof ENTITLEMENT_SETTINGS)[number]>
export type PurchaseRules = Rules['purchase_rules']

/** What of a subscription decides whether it gives access. Times in ms. */
export type Timing = {
  status: string
  /** Null if the vendor does not say. That counts as live. */
  livemode: boolean | null
  period_start: number | null
  period_end: number | null
  cancel_at: number | null
  /** When the vendor says that it ended. It decides nothing: only {@link whyOver} says it. */
  ended_at?: number | null
  /** The earliest event of the current period that says that it is past due; null if none is known. */
  past_due_since: number | null
  /** The vendor's time of the event that speaks for it. */
  updated_at: number | null
  /** What took back the payment of its newest paid invoice. It is only read where the setting `subscription_reversed` says `end`. */
  reversal?: Reversal | null
}

/** Why a source gives nothing, the most telling reason first. */
export const WHY_NOT = ['past_due', 'refunded', 'disputed', 'expired', 'test_mode', 'unknown_status'] as const
export type WhyNot = (typeof WHY_NOT)[number]

/** What took money back, in words, and the event of that. */
export type Reversal = { why: 'refunded' | 'disputed'; said: string; event_id: string | null }

/** Until when a source gives access (ms; null: no end is known), and why it gives none; null if it does. */
export type Access = { until: number | null; why: WhyNot | 'not_started' | null }

/** Whether a subscription gives access at a time. Access ends at `until`: at that very moment there is none. */
export function accessOf(timing: Timing, rules: Rules, now: number): Access {
  const { until, why } = windowOf(timing, rules)
  const reversed = rules.subscription_reversed === 'end' ? (timing.reversal?.why ?? null) : null
  const closed = why ?? (until !== null && now >= until ? overBy(timing, until) : reversed)
  const isTest = timing.livemode === false && !rules.test_mode_counts
  const reasons = [closed, isTest ? ('test_mode' as const) : null].filter((one) => one !== null)
  return { until, why: WHY_NOT.find((one) => reasons.includes(one)) ?? closed }
}

/** What it is called when a window is over: for a subscription that is past due, whether its grace or itself has ended. */
function overBy({ status, cancel_at }: Timing, until: number): WhyNot {
  return status === 'past_due' && until !== cancel_at ? 'past_due' : 'expired'
}

/** The window of a status, or why it has none. */
function windowOf(timing: Timing, { grace_days, renewal_slack_hours }: Rules): Access {
  const { status, period_start, period_end, cancel_at } = timing
  switch (status) {
    case 'trialing':
    case 'active':
      return {
        until: earliest([period_end === null ? null : period_end + renewal_slack_hours * HOUR, cancel_at]),
        why: null,
      }
    case 'past_due': {
      // Without any time, its grace cannot have been shorter.
      const since = timing.past_due_since ?? period_start ?? timing.updated_at ?? 0
      return { until: earliest([grace_days === null ? null : since + grace_days * DAY, cancel_at]), why: null }
    }
    case 'unpaid':
    case 'incomplete':
      return { until: null, why: 'past_due' }
    case 'scheduled':
      return { until: null, why: 'not_started' }
    case 'canceled':
    case 'incomplete_expired':
    case 'paused':
      return { until: null, why: 'expired' }
    default:
      return { until: null, why: 'unknown_status' }
  }
}

/** Whether a subscription in its status can give access, now or after the rules have changed. Otherwise only its vendor can change that. */
export function canGiveAgain({ status }: Pick<Timing, 'status'>): boolean {
  return status === 'trialing' || status === 'active' || status === 'past_due'
}

/** The earliest of these times (ms); null stands for none, and is later than every time. */
export function earliest(times: readonly (number | null)[]): number | null {
  return times.reduce((first, time) => (first === null || (time !== null && time < first) ? time : first), null)
}

/** Why a subscription gives nothing any more, in words, by its status. Null if its status says no more than that it has ended. */
export function whyOver({ status, cancel_at, ended_at = null }: Timing, { until }: { until: number | null }) {
  switch (status) {
    case 'canceled':
      return ended_at === null
        ? 'The subscription was canceled.'
        : `The subscription was canceled and ended on ${isoDay(ended_at)}.`
    case 'paused':
      return 'The subscription is paused.'
    case 'incomplete_expired':
      return 'The first payment of the subscription was not made in time.'
    case 'trialing':
    case 'active':
      return until === cancel_at ? null : 'The billing period has ended, and no event has renewed the subscription.'
    default:
      return null
  }
}
