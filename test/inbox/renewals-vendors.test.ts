import { beforeEach, expect, it } from 'vitest'
import { DAY, HOUR } from '../../src/lib/time'
import {
  isoOf,
  paddleEventOf,
  paddleSubscription,
  stripeEventOf,
  stripeItem,
  stripeSubscription,
} from '../billing/payloads'
import { appleSubscribed, ms } from '../billing/payloads-apple'
import {
  at,
  chargebeeEvent,
  chargebeeSubscription,
  type Fields,
  LEMON_SUBSCRIPTION,
  lemonEvent,
  lemonSubscription,
  polarEvent,
  polarSubscription,
  START,
} from '../billing/payloads-more'
import type { SignedVendor } from '../billing/signed'
import { vendorWorld } from '../billing/vendor-world'
import { setClock, stopClock } from '../clock'
import { call } from '../harness'
import { keepHouse } from './pipeline'

/*
 * Each vendor's subscriptions: the events that should follow the end of a period do not come.
 */

/** The end of the period. */
const END = (START + 31 * 86_400) * 1000
const seconds = END / 1000

type Vendor = {
  /** The event of a subscription, so many days after the period began. */
  event: (fields: Fields, days: number) => object
  canceling: Fields
  /** That it will be paused at the end of its period, if the vendor can say that. */
  pausing?: Fields
  paused: Fields
  pastDue: Fields
  renewed: Fields
}

const VENDORS: Partial<Record<SignedVendor, Vendor>> = {
  stripe: {
    event: ({ ends = seconds, ...fields }, days) => {
      const item = stripeItem({ current_period_start: START, current_period_end: ends })
      const items = { object: 'list', data: [item], has_more: false, total_count: 1 }
      const subscription = stripeSubscription({ id: 'sub_1', livemode: true, items, ...fields })
      return {
        ...stripeEventOf('customer.subscription.updated', subscription, { at: START + days * 86_400 }),
        livemode: true,
      }
    },
    canceling: { cancel_at_period_end: true, cancel_at: seconds },
    paused: { status: 'paused' },
    pastDue: { status: 'past_due' },
    renewed: { ends: seconds + 30 * 86_400 },
  },
  paddle: {
    event: (fields, days) => {
      const updated = { id: 'sub_1', updated_at: at(days), ...fields }
      const current_billing_period = { starts_at: at(0), ends_at: isoOf(seconds) }
      return paddleEventOf('subscription.updated', paddleSubscription({ current_billing_period, ...updated }), {
        at: at(days),
      })
    },
    canceling: { scheduled_change: { action: 'cancel', effective_at: isoOf(seconds), resume_at: null } },
    pausing: { scheduled_change: { action: 'pause', effective_at: isoOf(seconds), resume_at: null } },
    paused: { status: 'paused', paused_at: at(3) },
    pastDue: { status: 'past_due' },
    renewed: { current_billing_period: { starts_at: isoOf(seconds), ends_at: isoOf(seconds + 30 * 86_400) } },
  },
  polar: {
    event: (fields, days) =>
      polarEvent('subscription.updated', polarSubscription({ modified_at: at(days, 6), ...fields }), at(days, 6)),
    canceling: { cancel_at_period_end: true, ends_at: isoOf(seconds) },
    paused: { status: 'paused' },
    pastDue: { status: 'past_due' },
    renewed: { current_period_start: isoOf(seconds), current_period_end: isoOf(seconds + 30 * 86_400) },
  },
  lemonsqueezy: {
    event: (fields, days) =>
      lemonEvent('subscription_updated', LEMON_SUBSCRIPTION, lemonSubscription({ updated_at: at(days, 6), ...fields })),
    canceling: { status: 'cancelled', cancelled: true, ends_at: isoOf(seconds) },
    paused: { status: 'paused', pause: { mode: 'void', resumes_at: null } },
    pastDue: { status: 'past_due' },
    renewed: { renews_at: isoOf(seconds + 30 * 86_400) },
  },
  apple: {
    event: ({ status = 1, renewal = {}, ...transaction }, days) =>
      appleSubscribed('DID_RENEW', status as number, { transaction, renewal: renewal as Fields, at: days }),
    canceling: { renewal: { autoRenewStatus: 0 } },
    paused: { status: 2 }, // expired: it cannot be paused
    pastDue: { status: 4 },
    renewed: { purchaseDate: ms(31), expiresDate: ms(61), renewal: { renewalDate: ms(61) } },
  },
  chargebee: {
    event: (fields, days) => {
      const now = START + days * 86_400
      const subscription = chargebeeSubscription({ updated_at: now, resource_version: now * 1000, ...fields })
      return chargebeeEvent('subscription_changed', { subscription }, now)
    },
    canceling: { status: 'non_renewing', cancelled_at: seconds },
    paused: { status: 'paused', pause_date: START },
    pastDue: { due_invoices_count: 1 },
    renewed: { current_term_start: seconds, current_term_end: seconds + 30 * 86_400 },
  },
}

beforeEach(() => {
  stopClock(START * 1000)
})

it.each(Object.entries(VENDORS))(
  '%s: only a renewal that did not come is named, a day after it was due',
  async (name, vendor) => {
    const { event } = vendor
    const overdueAfter = async (subscription: object[], ms: number) => {
      const of = await vendorWorld(name as SignedVendor)
      setClock(END + ms)
      for (const one of subscription) await of.tell(one)
      await keepHouse()
      const { status, body } = await call('/platform/v1/billing/subscriptions?overdue=true', of)
      expect(status).toBe(200)
      stopClock(START * 1000)
      return body.data.length
    }
    const active = event({}, 1)
    expect({
      'before a day has passed': await overdueAfter([active], 18 * HOUR),
      'after a day': await overdueAfter([active], 30 * HOUR),
      'before access ends': await overdueAfter([active], 42 * HOUR),
      'to be canceled': await overdueAfter([active, event(vendor.canceling, 2)], 30 * HOUR),
      ...(vendor.pausing && {
        'to be paused': await overdueAfter([active, event(vendor.pausing, 2)], 30 * HOUR),
      }),
      paused: await overdueAfter([active, event(vendor.paused, 3)], 30 * HOUR),
      'tried again by the vendor': await overdueAfter([active, event(vendor.pastDue, 31.5)], 30 * HOUR),
      renewed: await overdueAfter([active, event(vendor.renewed, 31)], 3 * DAY),
    }).toEqual({
      'before a day has passed': 0,
      'after a day': 1,
      'before access ends': 1,
      'to be canceled': 0,
      ...(vendor.pausing && { 'to be paused': 0 }),
      paused: 0,
      'tried again by the vendor': 0,
      renewed: 0,
    })
  },
)
