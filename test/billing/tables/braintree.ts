import * as p from '../payloads-more'
import { type Line, sub } from './line'

const bt = (kind: string, fields: p.Fields = {}) => p.braintreeEvent(kind, p.braintreeSubscription(fields))

const ofBraintree = sub('bt1', 'bt_cus_1', null)

export const BRAINTREE: Line[] = [
  [
    'to begin later',
    bt('subscription_trial_ended', { status: 'Pending' }),
    ofBraintree('scheduled', {
      items: [
        ['bt_plan_1', null, null, 1],
        ['bt_seats', null, null, 4],
      ],
    }),
  ],
  [
    'on trial',
    bt('subscription_went_active', {
      'trial-period': 'true',
      'billing-period-end-date': null,
      'first-billing-date': p.day(14),
      'next-billing-date': p.day(14),
    }),
    ofBraintree('active', { fields: { trial_end: p.at(14), current_period_end: p.at(14) } }),
  ],
  [
    'active',
    bt('subscription_charged_successfully'),
    ofBraintree('active', {
      fields: { current_period_end: p.at(31), currency: 'USD', default_payment_method: 'bt_token' },
    }),
  ],
  ['past due', bt('subscription_went_past_due', { status: 'Past Due' }), ofBraintree('past_due')],
  ['canceled', bt('subscription_canceled', { status: 'Canceled' }), ofBraintree('canceled')],
  ['expired', bt('subscription_expired', { status: 'Expired' }), ofBraintree('canceled')],
  ['never charged', bt('subscription_went_active', { transactions: [] }), ofBraintree('active', { customer: null })],
  [
    'a dispute',
    {
      xml: '<notification><kind>dispute_opened</kind><subject><dispute><id>d</id></dispute></subject></notification>',
    },
    [],
  ],
]
