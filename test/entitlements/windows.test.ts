import { describe, expect, it } from 'vitest'
import { mergedPastDue, type PastDue } from '../../src/billing/past-due'
import { accessOf, type Rules, type Timing } from '../../src/entitlements/window'
import { DAY, HOUR } from '../../src/lib/time'
import { DEFAULTS } from '../../src/tenancy/settings'

const RULES: Rules = { ...DEFAULTS, grace_days: 7, renewal_slack_hours: 48, test_mode_counts: false }
const [START, END] = [100 * DAY, 130 * DAY]
const TIMING: Timing = {
  status: 'active',
  livemode: true,
  period_start: START,
  period_end: END,
  cancel_at: null,
  past_due_since: null,
  updated_at: START + 3 * HOUR,
}
const LATE = 10_000 * DAY

/** The first millisecond without access; null if there is none, 0 if there never was any. */
type Case = [what: string, timing: Partial<Timing>, rules: Partial<Rules>, ends: number | null, why: string | null]

const CASES: Case[] = [
  ['active', {}, {}, END + 48 * HOUR, 'expired'],
  ['trialing', { status: 'trialing' }, {}, END + 48 * HOUR, 'expired'],
  ['active, without slack', {}, { renewal_slack_hours: 0 }, END, 'expired'],
  ['active, canceled within its period', { cancel_at: END - DAY }, {}, END - DAY, 'expired'],
  ['active, canceled at its end: no slack', { cancel_at: END }, {}, END, 'expired'],
  ['active, canceled later', { cancel_at: END + 90 * DAY }, {}, END + 48 * HOUR, 'expired'],
  ['active, without a period', { period_end: null }, {}, null, null],
  ['active, without a period, canceled', { period_end: null, cancel_at: END }, {}, END, 'expired'],
  ['past due', { status: 'past_due', past_due_since: START + HOUR }, {}, START + HOUR + 7 * DAY, 'past_due'],
  ['past due, since when is not known', { status: 'past_due' }, {}, START + 7 * DAY, 'past_due'],
  [
    'past due, without a period',
    { status: 'past_due', period_start: null },
    {},
    START + 3 * HOUR + 7 * DAY,
    'past_due',
  ],
  ['past due, without any time', { status: 'past_due', period_start: null, updated_at: null }, {}, 7 * DAY, 'past_due'],
  ['past due, without grace', { status: 'past_due', past_due_since: START }, { grace_days: 0 }, START, 'past_due'],
  ['past due, for as long as the vendor says so', { status: 'past_due' }, { grace_days: null }, null, null],
  ['past due, to be canceled', { status: 'past_due', cancel_at: END }, { grace_days: null }, END, 'expired'],
  ['past due, canceled in its grace', { status: 'past_due', cancel_at: START + DAY }, {}, START + DAY, 'expired'],
  ['past due, canceled after its grace', { status: 'past_due', cancel_at: END }, {}, START + 7 * DAY, 'past_due'],
  ['unpaid', { status: 'unpaid' }, { grace_days: null }, 0, 'past_due'],
  ['incomplete', { status: 'incomplete' }, {}, 0, 'past_due'],
  ['incomplete and over', { status: 'incomplete_expired' }, {}, 0, 'expired'],
  ['paused', { status: 'paused' }, {}, 0, 'expired'],
  ['scheduled', { status: 'scheduled' }, {}, 0, 'not_started'],
  ['scheduled, in test mode', { status: 'scheduled', livemode: false }, {}, 0, 'test_mode'],
  ['canceled', { status: 'canceled' }, {}, 0, 'expired'],
  ['of an unknown status', { status: 'unknown' }, {}, 0, 'unknown_status'],
  ['of a status of another version', { status: 'frozen' }, {}, 0, 'unknown_status'],
  ['of test mode', { livemode: false }, {}, 0, 'test_mode'],
  ['of test mode, which counts', { livemode: false }, { test_mode_counts: true }, END + 48 * HOUR, 'expired'],
  ['of an unknown mode, as of Paddle', { livemode: null }, {}, END + 48 * HOUR, 'expired'],
]

describe('a subscription that is', () => {
  it.each(CASES)('%s gives access until its time', (_, timing, rules, ends, why) => {
    const at = (now: number) => accessOf({ ...TIMING, ...timing }, { ...RULES, ...rules }, now).why
    if (ends === null) expect([at(0), at(LATE)]).toEqual([null, null])
    else if (ends === 0) expect([at(0), at(START)]).toEqual([why, why])
    else expect([at(ends - 1), at(ends), at(LATE)]).toEqual([null, why, why])
  })
})

it('is past due since the earliest event of the latest period, in whatever order they come', () => {
  const [a, b, c, d]: PastDue[] = [
    { period: '2026-02', since: '2026-02-03' },
    { period: '2026-02', since: '2026-02-02' },
    { period: '2026-01', since: '2026-01-01' },
    { period: '2026-02', since: '2026-02-09' },
  ] as const satisfies PastDue[]
  for (const order of [
    [a, b, c, d],
    [d, c, b, a],
    [c, a, d, b, b, a],
    [b, null, c, a, d],
  ]) {
    expect(order.reduce<PastDue | null>((merged, one) => mergedPastDue(merged, one ?? null), null)).toEqual(b)
  }
})
