import type { Item } from './facts'
import type { Reason } from './resolve'
import type { EntitlementSource } from './sources'

/*
 * Why something that a consumer has gives nothing, in words.
 */

/** Why a source gives nothing. */
const SAID: Record<NonNullable<EntitlementSource['why']>, Partial<Record<EntitlementSource['type'], string>>> = {
  past_due: { subscription: 'The subscription is not paid, and no grace period is left.' },
  refunded: {
    subscription: 'The last payment was refunded in full.',
    purchase: 'The purchase was refunded.',
  },
  disputed: {
    subscription: 'The dispute over the last payment was lost.',
    purchase: 'The payment is disputed.',
  },
  expired: {
    subscription: 'The subscription has ended.',
    purchase: 'The paid period has ended.',
    grant: 'The grant has expired.',
  },
  test_mode: {
    subscription: 'The subscription is in test mode, which grants no access in this project.',
    purchase: 'The purchase is in test mode, which grants no access in this project.',
  },
  unknown_status: {
    subscription: 'The vendor reports a status that we do not know.',
    purchase: 'The vendor reports a status that we do not know.',
  },
  not_started: {
    subscription: 'The subscription has not started.',
    purchase: 'The paid period has not started: it follows an earlier purchase.',
    grant: 'The grant has not started.',
  },
  replaced: { default: 'The consumer has a plan from a subscription, purchase or grant.' },
}

/** Why a source that gives something does not count, by the reason of the answer. */
const OUTRANKED: Partial<Record<Reason, string>> = {
  denied: 'The feature is denied to the consumer.',
  consumer_blocked: 'The consumer is blocked.',
  consumer_erased: 'The consumer is erased.',
  consumer_merged: 'The consumer was merged.',
  not_included: 'The quantity is 0.',
}

/** Of a purchase without items. */
export const NOTHING_NAMED = 'No event says what was bought.'

/** Why a source gives nothing. */
export function whyInWords(why: NonNullable<EntitlementSource['why']>, type: EntitlementSource['type']): string {
  return SAID[why][type] ?? ''
}

/** Why what gives something does not count. @param reason of the answer */
export function outrankedBy(reason: Reason): string | null {
  return OUTRANKED[reason] ?? null
}

type Named = Pick<Item, 'price' | 'variant' | 'product'>
const nameOf = ({ price, variant = null, product }: Named) => price ?? variant ?? product ?? 'An item without a price'

/** Of an item that is mapped to no plan. */
export function notMapped(item: Named): string {
  return `${nameOf(item)} is not mapped to a plan.`
}

/** Why an item of a purchase gives nothing, whatever the purchase's state is; null if its plan says how long a one-time payment lasts. */
export function whyNever(item: Item): string | null {
  if (item.plan_id === null) return notMapped(item)
  return (item.lasts ?? null) === null
    ? `The plan does not say how long a one-time payment of ${nameOf(item)} lasts.`
    : null
}
