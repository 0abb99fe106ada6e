import { type CustomerClaim, claimsOf } from './claim'
import { word } from './lib/bounded'
import { at, isObject, type Json, objects, text } from './lib/json'
import { required } from './lib/read'
import { isoMillis } from './lib/time'
import { knownStatus } from './objects'
import { EVENT_STEPS, type Made, type Snapshot } from './snapshot'
import { blank, type From, itemWith, wholeSnapshot } from './whole'

/** A subscription of RevenueCat's API as billing state. @param when the time of the answer, as the fetch noted it */
export function revenuecatSnapshot(object: Json, when: string | null): Snapshot {
  const cut = { any: false }
  const common = {
    customer: word(object.customer_id),
    vendor_status: word(object.status),
    livemode: livemodeIn(object.environment),
    created_at: isoMillis(object.starts_at),
    updated_at: when,
    metadata: null,
  }
  const of = { version: null, occurred_at: when, updated_at: null, step: EVENT_STEPS.updated }
  const made = subscription({ type: '', object, common, cut })
  return wholeSnapshot({ kind: 'subscription', id: required(object.id, 'id'), when: of }, made, cut)
}

/** Whether it is of production; null if the vendor does not say. Events write it in capital letters. */
export function livemodeIn(environment: unknown): boolean | null {
  const name = text(environment)?.toLowerCase()
  return name === 'production' ? true : name === 'sandbox' ? false : null
}

const SUBSCRIPTION = {
  trialing: 'trialing',
  active: 'active',
  in_grace_period: 'past_due',
  in_billing_retry: 'unpaid', // the store still tries, but gives no access
  paused: 'paused',
  incomplete: 'incomplete',
  expired: 'canceled',
} as const

/** One that has expired can be bought again, and keeps its id: no state is final. */
function subscription({ object, common }: From): Made<'subscription'> {
  const status = knownStatus(common.vendor_status, SUBSCRIPTION)
  const isOver = status === 'canceled'
  const ends = !isOver && object.auto_renewal_status === 'will_not_renew'
  const end = isoMillis(object.ends_at) ?? isoMillis(object.current_period_ends_at)
  const body = {
    ...blank('subscription'),
    ...common,
    status,
    items: [itemOf(object)],
    current_period_start: isoMillis(object.current_period_starts_at),
    current_period_end: end,
    started_at: isoMillis(object.starts_at),
    trial_end: status === 'trialing' ? end : null,
    cancel_at: ends ? end : null,
    cancel_at_period_end: ends,
    ended_at: isOver ? end : null,
  }
  return { body, terminal: false }
}

/** The product, by RevenueCat's id and by that of the store; and the first entitlement that it gives. */
function itemOf({ product_id, entitlements }: Json) {
  const given = objects(at(entitlements, 'items'))
  const products = given.flatMap((one) => objects(at(one.products, 'items')))
  const product = products.find(({ id }) => id === product_id)
  return itemWith({
    price: word(product_id),
    variant: word(product?.store_identifier),
    product: word(given[0]?.lookup_key) ?? word(given[0]?.id),
    quantity: 1,
  })
}

/** RevenueCat's own name of a customer whom the app has not named. */
const ANONYMOUS = '$RCAnonymousID:'

/** The app sets the id of its user, so a user of a changed app may have chosen it. */
export function revenuecatClaims(event: Json): CustomerClaim[] {
  const { data } = event
  if (!isObject(data)) return []
  const named = [text(data.app_user_id), text(data.customer_id)].filter((id) => id !== null)
  return claimsOf(
    text(data.customer_id),
    [...new Set(named)].filter((id) => !id.startsWith(ANONYMOUS)),
    'checkout',
  )
}
