import { APPLE_TOKEN, appleSubscribed, inSandbox, ms } from './payloads-apple'
import * as p from './payloads-more'
import type { SignedVendor } from './signed'

/** `test`: an event of the same subscription in test mode, where the vendor says so. */
export type Story = {
  vendor: SignedVendor
  consumer: string
  refs: string[]
  seats: number
  lines: [day: number, payload: unknown, reason: string][]
  test?: { payload: unknown; environment?: string }
}

const polar = (type: string, day: number, fields: p.Fields) =>
  p.polarEvent(type, p.polarSubscription(fields), p.at(day, 6))
const lemon = (name: string, day: number, fields: p.Fields) =>
  p.lemonEvent(name, p.LEMON_SUBSCRIPTION, p.lemonSubscription({ updated_at: p.at(day, 6), ...fields }), {
    custom_data: { consumer_external_id: 'user_lemonsqueezy' },
  })
const chargebee = (type: string, day: number, subscription: p.Fields, more: p.Fields = {}) => {
  const when = { updated_at: p.START + day * 86_400, resource_version: (p.START + day * 86_400) * 1000 }
  const content = {
    subscription: p.chargebeeSubscription({ ...when, ...subscription }),
    customer: p.chargebeeCustomer(),
    ...more,
  }
  return p.chargebeeEvent(type, content, p.START + day * 86_400)
}
const square = (day: number, fields: p.Fields) =>
  p.squareEvent('subscription.updated', p.squareSubscription({ version: day + 1, ...fields }), p.at(day))
const braintree = (kind: string, day: number, fields: p.Fields) =>
  p.braintreeEvent(kind, p.braintreeSubscription({ 'updated-at': p.at(day), ...fields }), p.at(day))
/** An event of the App Store's, in the period between two days. */
const apple = (type: string, day: number, status: number, [from, to]: [number, number], more: p.Fields = {}) => {
  const { renewal = {}, ...fields } = more
  const transaction = { transactionId: `2000${from}`, purchaseDate: ms(from), expiresDate: ms(to), ...fields }
  return appleSubscribed(type, status, {
    transaction,
    renewal: { renewalDate: ms(to), ...(renewal as object) },
    at: day,
  })
}
const seconds = (day: number) => p.START + day * 86_400

const february = { current_period_start: p.at(31), current_period_end: p.at(59) }
export const STORIES: Story[] = [
  {
    vendor: 'polar',
    consumer: 'user_polar',
    refs: ['pol_price_1'],
    seats: 4,
    lines: [
      [0, polar('subscription.created', 0, { status: 'trialing', seats: 4, current_period_end: p.at(14) }), 'plan'],
      [17, null, 'expired'], // the event is late
      [17, polar('subscription.updated', 17, { seats: 4, ...february }), 'plan'],
      [32, polar('subscription.past_due', 32, { status: 'past_due', seats: 4, ...february }), 'plan'],
      [36, polar('subscription.updated', 36, { status: 'past_due', seats: 4, ...february }), 'plan'],
      [39, null, 'past_due'],
      [40, polar('subscription.updated', 40, { seats: 4, ...february }), 'plan'],
      [
        41,
        polar('subscription.canceled', 41, { seats: 4, ...february, cancel_at_period_end: true, ends_at: p.at(59) }),
        'plan',
      ],
      [59, null, 'expired'],
      [60, polar('subscription.revoked', 59, { status: 'canceled', seats: 4 }), 'expired'],
    ],
  },
  {
    vendor: 'lemonsqueezy',
    consumer: 'user_lemonsqueezy',
    refs: ['71'], // the variant
    seats: 3,
    lines: [
      [0, lemon('subscription_created', 0, { status: 'on_trial', renews_at: p.at(14, 6) }), 'plan'],
      [17, null, 'expired'],
      [17, lemon('subscription_updated', 17, { renews_at: p.at(45, 6) }), 'plan'],
      [45, lemon('subscription_updated', 45, { status: 'past_due', renews_at: p.at(48, 6) }), 'plan'],
      [53, null, 'past_due'],
      [53, lemon('subscription_updated', 53, { renews_at: p.at(80, 6) }), 'plan'],
      [
        54,
        lemon('subscription_cancelled', 54, {
          status: 'cancelled',
          cancelled: true,
          ends_at: p.at(70, 6),
          renews_at: p.at(80, 6),
        }),
        'plan',
      ],
      [70, null, 'expired'],
      [71, lemon('subscription_expired', 70, { status: 'expired', cancelled: true, ends_at: p.at(70, 6) }), 'expired'],
    ],
    test: { payload: lemon('subscription_updated', 100, { test_mode: true, renews_at: p.at(200, 6) }) },
  },
  {
    vendor: 'chargebee',
    consumer: 'user_chargebee',
    refs: ['cb_price_1'],
    seats: 2,
    lines: [
      [0, chargebee('subscription_created', 0, { status: 'future' }), 'no_subscription'],
      [
        1,
        chargebee('subscription_started', 1, {
          status: 'in_trial',
          current_term_start: undefined,
          current_term_end: undefined,
          trial_start: seconds(1),
          trial_end: seconds(15),
        }),
        'plan',
      ],
      [18, null, 'expired'],
      [
        18,
        chargebee('subscription_activated', 18, { current_term_start: seconds(15), current_term_end: seconds(46) }),
        'plan',
      ],
      // Chargebee says active for as long as it tries to collect. The invoice is open.
      [
        46,
        chargebee(
          'payment_failed',
          46,
          { current_term_start: seconds(46), current_term_end: seconds(74) },
          { invoice: p.chargebeeInvoice() },
        ),
        'plan',
      ],
      // A reminder with the subscription as it was on its trial does not bring that back.
      [
        47,
        {
          ...chargebee('subscription_trial_end_reminder', 1, { status: 'paused' }),
          id: 'ev_late',
          occurred_at: seconds(47),
        },
        'plan',
      ],
      [
        48,
        chargebee('subscription_cancellation_scheduled', 48, { status: 'non_renewing', current_term_end: seconds(74) }),
        'plan',
      ],
      [74, null, 'expired'],
      [75, chargebee('subscription_cancelled', 75, { status: 'cancelled', cancelled_at: seconds(74) }), 'expired'],
    ],
  },
  {
    vendor: 'square',
    consumer: 'user_square',
    refs: ['SQPLAN1'],
    seats: 1,
    lines: [
      [0, p.squareEvent('customer.created', p.squareCustomer()), 'no_subscription'],
      [0, square(0, { status: 'PENDING', charged_through_date: undefined }), 'no_subscription'],
      [1, square(1, { charged_through_date: p.day(30) }), 'plan'],
      [33, null, 'expired'],
      [33, square(33, { charged_through_date: p.day(58) }), 'plan'],
      [34, square(34, { status: 'PAUSED', charged_through_date: p.day(58) }), 'expired'],
      [35, square(35, { charged_through_date: p.day(58), canceled_date: p.day(40) }), 'plan'],
      [41, null, 'expired'],
      [42, square(42, { status: 'CANCELED', canceled_date: p.day(40) }), 'expired'],
    ],
    test: { payload: square(100, { charged_through_date: p.day(200) }), environment: 'Sandbox' },
  },
  {
    vendor: 'braintree',
    consumer: 'user_braintree',
    refs: ['bt_plan_1'],
    seats: 1,
    lines: [
      [
        0,
        braintree('subscription_went_active', 0, {
          'trial-period': 'true',
          'billing-period-end-date': null,
          'next-billing-date': p.day(14),
        }),
        'plan',
      ],
      [16, null, 'expired'],
      [
        16,
        braintree('subscription_charged_successfully', 16, {
          'billing-period-start-date': p.day(14),
          'billing-period-end-date': p.day(44),
        }),
        'plan',
      ],
      [
        45,
        braintree('subscription_went_past_due', 45, { status: 'Past Due', 'billing-period-start-date': p.day(45) }),
        'plan',
      ],
      [52, null, 'past_due'],
      [
        53,
        braintree('subscription_charged_successfully', 53, {
          'billing-period-start-date': p.day(45),
          'billing-period-end-date': p.day(75),
        }),
        'plan',
      ],
      [60, braintree('subscription_canceled', 60, { status: 'Canceled' }), 'expired'],
    ],
  },
  {
    vendor: 'apple',
    consumer: APPLE_TOKEN,
    refs: ['com.example.pro'],
    seats: 1,
    lines: [
      [0, apple('SUBSCRIBED.INITIAL_BUY', 0, 1, [0, 14], { offerType: 1, offerDiscountType: 'FREE_TRIAL' }), 'plan'],
      [17, null, 'expired'], // the event is late
      [17, apple('DID_RENEW', 14, 1, [14, 45]), 'plan'],
      [
        20,
        apple('DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED', 20, 1, [14, 45], { renewal: { autoRenewStatus: 0 } }),
        'plan',
      ],
      [21, apple('DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_ENABLED', 21, 1, [14, 45]), 'plan'],
      [
        46,
        apple('DID_FAIL_TO_RENEW.GRACE_PERIOD', 45, 4, [14, 45], { renewal: { gracePeriodExpiresDate: ms(61) } }),
        'plan',
      ],
      [53, null, 'past_due'], // the project's grace, not Apple's
      [54, apple('DID_FAIL_TO_RENEW', 54, 3, [14, 45]), 'past_due'],
      [55, apple('DID_RENEW.BILLING_RECOVERY', 55, 1, [55, 85]), 'plan'],
      // Money back for an earlier period.
      [60, apple('REFUND', 60, 1, [14, 45], { revocationDate: ms(60), renewal: { renewalDate: ms(85) } }), 'plan'],
      [
        70,
        apple('DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED', 70, 1, [55, 85], { renewal: { autoRenewStatus: 0 } }),
        'plan',
      ],
      [85, null, 'expired'],
      [86, apple('EXPIRED.VOLUNTARY', 85, 2, [55, 85], { renewal: { autoRenewStatus: 0 } }), 'expired'],
      // An event of before, which comes late, does not bring it back.
      [87, apple('DID_CHANGE_RENEWAL_PREF', 84, 1, [55, 85]), 'expired'],
      [90, apple('SUBSCRIBED.RESUBSCRIBE', 90, 1, [90, 121]), 'plan'],
      [95, apple('REFUND', 95, 1, [90, 121], { revocationDate: ms(95) }), 'expired'],
    ],
    test: { payload: inSandbox(apple('SUBSCRIBED.INITIAL_BUY', 100, 1, [100, 131])) },
  },
]
