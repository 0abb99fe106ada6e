import * as fc from 'fast-check'
import { change, ids, type Life } from './histories'
import { appleSubscribed } from './payloads-apple'
import {
  braintreeEvent,
  braintreeSubscription,
  chargebeeEvent,
  chargebeeSubscription,
  type Fields,
  LEMON_SUBSCRIPTION,
  lemonEvent,
  lemonSubscription,
  polarEvent,
  polarSubscription,
  START,
  squareEvent,
  squareSubscription,
} from './payloads-more'

/*
 * Histories of subscriptions of vendors that say nothing about the state before. A few changes have the same version or the same time
 * as the one before. Of vendors with versions, some events carry an older state than the one that there was, as reminders do.
 */

/** One state of a subscription. `clock` counts seconds, and is the same for tied states. */
type State = { clock: number; n: number; ended: boolean }
type Maker = {
  vendor: Life['vendor']
  object: string
  versioned: boolean
  /** The event of a state. `id`: another one for each event. `later`: how many seconds after its state the event is made. */
  event: (state: State, id: string, later: number) => Record<string, unknown>
}

function lifeOf({ vendor, object, versioned, event }: Maker): fc.Arbitrary<Life> {
  const changes = fc.array(change, { minLength: 1, maxLength: 6 })
  return fc.record({ changes, ended: fc.boolean(), ids }).map(({ changes, ended, ids }) => {
    let clock = 0
    let n = 0
    const past: State[] = [{ clock, n, ended: false }]
    const bodies: Record<string, unknown>[] = []
    const push = (state: State, later = 0) => bodies.push(event(state, `evt_${ids[bodies.length]}`, later))
    push(past[0] as State)
    for (const { tied, back, announced, fields } of changes) {
      if (announced && versioned) push(past[fields % past.length] as State, 1000 + clock)
      if (!tied) clock += 10
      n = back ? Math.max(0, n - 1) : n + 1
      const state = { clock, n, ended: false }
      past.push(state)
      push(state)
    }
    if (ended) push({ clock: clock + 10, n, ended: true })
    const events = bodies.map((body, i) => ({ id: `evt_${ids[i]}`, body }))
    return { vendor, path: 'subscriptions' as const, object, events }
  })
}

const iso = (clock: number, digits = '') =>
  new Date((START + clock) * 1000).toISOString().replace('.000Z', `${digits}Z`)

export const polarLife = lifeOf({
  vendor: 'polar',
  object: 'pol_sub_1',
  versioned: false,
  event: ({ clock, n, ended }, id) => ({
    webhook_id: id,
    ...polarEvent(
      ended ? 'subscription.revoked' : 'subscription.updated',
      polarSubscription({ seats: n, status: ended ? 'canceled' : 'active', modified_at: iso(clock, '.000001') }),
      iso(clock, '.000001'),
    ),
  }),
})

export const lemonsqueezyLife = lifeOf({
  vendor: 'lemonsqueezy',
  object: '21',
  versioned: false,
  event: ({ clock, n, ended }, id) => {
    const fields = {
      variant_name: `Variant ${n}`,
      status: ended ? 'expired' : 'active',
      updated_at: iso(clock, '.000000'),
      // Signed for each event: it tells no two of them apart.
      urls: { customer_portal: `https://my-store.lemonsqueezy.com/billing?signature=${id}` },
    }
    return lemonEvent('subscription_updated', LEMON_SUBSCRIPTION, lemonSubscription(fields))
  },
})

const chargebeeState = ({ clock, n, ended }: State): Fields =>
  chargebeeSubscription({
    subscription_items: [{ item_price_id: 'cb_price_1', item_type: 'plan', quantity: n }],
    status: ended ? 'cancelled' : 'active',
    updated_at: START + clock,
    resource_version: (START + clock) * 1000,
  })
export const chargebeeLife = lifeOf({
  vendor: 'chargebee',
  object: 'cb_sub_1',
  versioned: true,
  event: (state, id, later) => ({
    ...chargebeeEvent(
      later > 0 ? 'subscription_renewal_reminder' : 'subscription_changed',
      { subscription: chargebeeState(state) },
      START + state.clock + later,
    ),
    id,
  }),
})

export const squareLife = lifeOf({
  vendor: 'square',
  object: 'sq-sub-1',
  versioned: true,
  event: ({ clock, n, ended }, id, later) => ({
    ...squareEvent(
      'subscription.updated',
      squareSubscription({
        version: clock,
        plan_variation_id: `PLAN${n}`,
        status: ended ? 'CANCELED' : 'ACTIVE',
      }),
      iso(clock + later),
    ),
    event_id: id,
  }),
})

export const braintreeLife = lifeOf({
  vendor: 'braintree',
  object: 'bt1',
  versioned: false,
  event: ({ clock, n, ended }, id) =>
    braintreeEvent(
      ended ? 'subscription_canceled' : 'subscription_charged_successfully',
      // Only the transactions differ between two events of one state.
      braintreeSubscription({
        price: `${n}.00`,
        status: ended ? 'Canceled' : 'Active',
        'updated-at': iso(clock),
        transactions: [{ id, customer: { id: 'bt_cus_1' } }],
      }),
      iso(clock),
    ),
})

export const appleLife = lifeOf({
  vendor: 'apple',
  object: '2000000',
  versioned: false,
  event: ({ clock, n, ended }, id) => ({
    ...appleSubscribed(ended ? 'EXPIRED' : 'DID_CHANGE_RENEWAL_PREF', ended ? 2 : 1, {
      transaction: { productId: `com.example.pro${n}` },
    }),
    notificationUUID: id,
    signedDate: (START + clock) * 1000 + 1,
  }),
})
