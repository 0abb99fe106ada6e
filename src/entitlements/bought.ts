import { endOfLasting } from '../catalog/lasting'
import type { BoughtItem, PurchaseFact } from './facts'
import { type Access, type PurchaseRules, type Rules, WHY_NOT, type WhyNot } from './window'

/** An item of a purchase that gives its plan for a time. `from`, `until`: ms; null where no time is known, or it never ends. */
export type Bought = {
  purchase: PurchaseFact
  item: BoughtItem
  from: number | null
  until: number | null
  why: Access['why']
  /** What took it back, or why it was never given, in words, and the event of that. */
  cause: { said: string; event_id: string | null } | null
}

/** The items of purchases that have a plan and last, with the time for which each gives it. */
export function boughtBy(purchases: readonly PurchaseFact[], rules: Rules, now: number): Bought[] {
  const all = purchases.flatMap((purchase) =>
    purchase.items
      .filter(({ plan_id, lasts }) => plan_id !== null && (lasts ?? null) !== null)
      .map((item) => ({ purchase, item, taken: takenBack(purchase, item, rules.purchase_rules) })),
  )
  const inOrder = all.toSorted((a, b) => compare(placeOf(a.purchase), placeOf(b.purchase)))
  // Where the time of the last one that follows ends, by plan.
  const ends = new Map<string, number>()
  return inOrder.map(({ purchase, item, taken }) => {
    const { paid_at } = purchase
    const plan = item.plan_id as string
    // What was taken back for good leaves the row, and later ones move up. What only counts as a test has no place in it.
    const follows = item.again !== 'beside' && !taken?.ends && paid_at !== null && !isTest(purchase, rules)
    const from = follows ? Math.max(paid_at, ends.get(plan) ?? paid_at) : paid_at
    const until = from === null ? null : endOfLasting(from, item.lasts as string)
    if (follows && until !== null) ends.set(plan, until)
    const closed = taken ?? closedAt({ from, until }, now)
    const why = whyNotOf(purchase, closed?.why ?? null, rules)
    return { purchase, item, from, until, why, cause: (closed?.why === why && closed?.cause) || null }
  })
}

type Closed = { why: WhyNot | 'not_started'; cause: Bought['cause'] }
type Taken = Closed & { ends: boolean }

/** Why a purchase does not give an item, whatever the time is; null if it does. `ends`: for good. */
function takenBack({ status, refund, dispute }: PurchaseFact, item: BoughtItem, rules: PurchaseRules): Taken | null {
  const refunded = (what: string): Taken => ({
    why: 'refunded',
    ends: true,
    cause: { said: `${what}${refund ? ` by refund ${refund.id}` : ''}.`, event_id: refund?.event_id ?? null },
  })
  const disputed = (what: string, ends: boolean): Taken => ({
    why: 'disputed',
    ends,
    cause: {
      said: `The ${dispute ? `dispute ${dispute.id}` : 'payment’s dispute'} ${what}.`,
      event_id: dispute?.event_id ?? null,
    },
  })
  if (refund?.revokes) return refunded('Access revoked by the vendor')
  if (item.returned > 0 && item.returned >= (item.quantity ?? 1)) return refunded('Refunded in full')
  switch (status) {
    case 'paid':
      return null
    case 'partially_refunded':
      return rules.refunded_part === 'end' ? refunded('Refunded in part') : null
    case 'refunded':
      return rules.refunded_whole === 'end' ? refunded('Refunded in full') : null
    case 'disputed':
      return rules.dispute_open === 'suspend' ? disputed('is open', false) : null
    case 'charged_back':
      return rules.dispute_lost === 'end' ? disputed('is lost', true) : null
    case 'pending':
      return { why: 'not_started', ends: true, cause: unpaid('The payment is pending.') }
    case 'failed':
      return { why: 'expired', ends: true, cause: unpaid('The payment failed.') }
    case 'canceled':
      return { why: 'expired', ends: true, cause: unpaid('The payment was canceled.') }
    default:
      return { why: 'unknown_status', ends: true, cause: null }
  }
}

const unpaid = (said: string): Bought['cause'] => ({ said, event_id: null })

/** Why something that was paid for and not taken back gives nothing at a time; null if it does. */
function closedAt({ from, until }: Pick<Bought, 'from' | 'until'>, now: number): Closed | null {
  // Without its beginning, its end is not known.
  if (from === null) return { why: 'unknown_status', cause: unpaid('The payment date is unknown.') }
  if (now < from) return { why: 'not_started', cause: null }
  return until !== null && now >= until ? { why: 'expired', cause: null } : null
}

/** Whether a purchase is in a vendor's test mode, which gives nothing in this project. */
const isTest = ({ livemode }: PurchaseFact, { test_mode_counts }: Rules) => livemode === false && !test_mode_counts

function whyNotOf(purchase: PurchaseFact, closed: Access['why'], rules: Rules): Access['why'] {
  const reasons = [closed, isTest(purchase, rules) ? ('test_mode' as const) : null].filter((one) => one !== null)
  return WHY_NOT.find((one) => reasons.includes(one)) ?? closed
}

/** Purchases follow each other by the time at which they were paid. */
function placeOf({ paid_at, vendor, id }: PurchaseFact): string {
  return `${String(paid_at ?? 0).padStart(16, '0')} ${vendor} ${id}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
