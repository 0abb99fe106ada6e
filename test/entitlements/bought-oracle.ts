import type { PurchaseRules } from '../../src/entitlements/window'
import { DAY, isoOrNull } from '../../src/lib/time'
import { dayAt, fateOf, piecesOf, type Sold, sellerOf } from './bought'
import type { FEATURE_KEYS } from './bought-play'

/*
 * What purchases give, as docs/concepts/entitlements.md says it and without any code of the product that decides it: an answer for each
 * feature of bought-play.ts.
 */

/** Why a source gives nothing, in the order of the table of reasons in the documentation. */
const REASONS = ['refunded', 'disputed', 'expired', 'test_mode'] as const
type Reason = (typeof REASONS)[number]

/** An item that was bought, with the time for which it gives its plan, and what is against it. */
type Pass = {
  plan: 'low' | 'high'
  seats: number
  from: number
  until: number | null
  against: Reason[]
  begun: boolean
}
type Key = (typeof FEATURE_KEYS)[number]
type Said = { allowed: boolean; value: unknown; reason: string; valid_until: string | null }

/** What each plan gives for a feature, by seats: as PLANS of bought-play.ts. Undefined: the plan does not have the feature. */
const GIVEN: Record<string, Record<Pass['plan'], ((seats: number) => unknown) | undefined>> = {
  flag: { low: () => true, high: undefined },
  most: { low: (seats) => 2 * seats, high: () => 5 },
  sum: { low: () => 10, high: (seats) => 100 * seats },
  conf: { low: undefined, high: () => 'high' },
}
const NOTHING: Record<string, unknown> = { flag: false, most: 0, sum: 0, conf: null }

/**
 * What the features of somebody are on a day.
 *
 * @param bought all that they bought
 */
export function saidOf(bought: readonly Sold[], rules: PurchaseRules, day: number): Record<Key, Said> {
  const passes = passesOf(bought, rules, dayAt(day))
  return Object.fromEntries(Object.keys(GIVEN).map((key) => [key, featureOf(key, passes)])) as Record<Key, Said>
}

/** The items in the order in which they were paid; on one day, by the names of the vendors and then by their ids. */
function passesOf(bought: readonly Sold[], rules: PurchaseRules, now: number): Pass[] {
  const nameOf = (one: Sold) => `${sellerOf(one)} ${one.id}`
  const inOrder = bought
    .filter((one) => fateOf(one).status !== 'pending')
    .toSorted((a, b) => a.day - b.day || (nameOf(a) < nameOf(b) ? -1 : 1))
  const ends: Partial<Record<Pass['plan'], number>> = {}
  return inOrder.flatMap((one) =>
    piecesOf(one).flatMap(({ price, quantity }, n): Pass[] => {
      if (price.lasts === null) return []
      const taken = takenBack(one, n, quantity, rules)
      const isTest = fateOf(one).livemode === false
      // What has ended for good delays nothing, and neither does what never counts.
      const follows = price.again !== 'beside' && !taken.ends && !isTest
      const paid = dayAt(one.day)
      const from = follows ? Math.max(paid, ends[price.plan] ?? paid) : paid
      const until = endOf(from, price.lasts)
      if (follows && until !== null) ends[price.plan] = until
      const isOver = until !== null && now >= until
      const against = [taken.why, isOver && ('expired' as const), isTest && ('test_mode' as const)]
      const others = { plan: price.plan, seats: quantity, begun: now >= from }
      return [{ ...others, from, until, against: REASONS.filter((reason) => against.includes(reason)) }]
    }),
  )
}

/** What takes an item back, by the status of its purchase, and whether it does for good. */
function takenBack(
  one: Sold,
  n: number,
  quantity: number,
  rules: PurchaseRules,
): { why: Reason | null; ends: boolean } {
  const { status, returned } = fateOf(one)
  const isReturned = returned?.[n] === true && quantity > 0
  if (isReturned) return { why: 'refunded', ends: true }
  if (status === 'partially_refunded' && rules.refunded_part === 'end') return { why: 'refunded', ends: true }
  if (status === 'refunded' && rules.refunded_whole === 'end') return { why: 'refunded', ends: true }
  if (status === 'charged_back' && rules.dispute_lost === 'end') return { why: 'disputed', ends: true }
  if (status === 'disputed' && rules.dispute_open === 'suspend') return { why: 'disputed', ends: false }
  return { why: null, ends: false }
}

/** The lengths of SOLD_PRICES in bought.ts. A month and a year end on the same day, or on the last one of a shorter month. */
function endOf(from: number, lasts: string): number | null {
  if (lasts === 'forever') return null
  if (lasts === 'P10D') return from + 10 * DAY
  const start = new Date(from)
  const month = start.getUTCMonth() + (lasts === 'P1Y' ? 12 : 1)
  const daysInMonth = new Date(Date.UTC(start.getUTCFullYear(), month + 1, 0)).getUTCDate()
  return Date.UTC(start.getUTCFullYear(), month, Math.min(start.getUTCDate(), daysInMonth))
}

function featureOf(key: string, passes: readonly Pass[]): Said {
  const sources = passes.flatMap((pass) => {
    const value = GIVEN[key]?.[pass.plan]?.(pass.seats)
    return value === undefined ? [] : [{ ...pass, value }]
  })
  const giving = sources.filter(({ against, begun }) => against.length === 0 && begun)
  const worth = giving.filter(({ value }) => value !== 0)
  if (worth.length > 0) {
    const most = Math.max(...worth.map(({ value }) => Number(value)))
    const ends = (some: readonly Pass[]) => some.map(({ until }) => until ?? Number.POSITIVE_INFINITY)
    const answers: Record<string, () => [value: unknown, until: number]> = {
      flag: () => [true, Math.min(...ends(worth))],
      most: () => [most, Math.min(...ends(worth.filter(({ value }) => value === most)))],
      sum: () => [worth.reduce((total, { value }) => total + Number(value), 0), Math.min(...ends(worth))],
      // All of them are of one plan: the one that lasts longest.
      conf: () => ['high', Math.max(...ends(worth))],
    }
    const [value, until] = answers[key]?.() ?? [undefined, Number.NaN]
    const valid_until = isoOrNull(until === Number.POSITIVE_INFINITY ? null : until)
    return { allowed: true, value, reason: 'plan', valid_until }
  }
  // Of what would be worth nothing anyway, nobody asks why it does not count.
  const would = sources.filter(({ value }) => value !== 0)
  const why = REASONS.find((reason) => would.some(({ against }) => against[0] === reason))
  const hasAny = passes.some(({ against, begun }) => against.length === 0 && begun)
  return {
    allowed: false,
    value: NOTHING[key],
    reason: why ?? (hasAny ? 'not_included' : 'no_subscription'),
    valid_until: null,
  }
}
