import { named } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { SubscriptionBody } from '../../vendors/objects'
import { shownExample, shownObject } from '../read/fields'

/** A subscription as the API shows it. */
export const Subscription = named('Subscription', shownObject(SubscriptionBody.shape), {
  ...shownExample,
  id: SAMPLE.subscription,
  status: 'active',
  vendor_status: 'active',
  description: null,
  currency: 'EUR',
  items: [
    {
      id: 'si_RYsC4',
      price: 'price_1QZ4k',
      product: 'prod_RYsA2',
      quantity: 1,
      amount: 4900,
      amount_decimal: null,
      currency: 'EUR',
      interval: 'month',
      interval_count: 1,
      usage_type: 'licensed',
      current_period_start: '2026-11-21T08:46:58Z',
      current_period_end: '2026-12-21T08:46:58Z',
    },
  ],
  current_period_start: '2026-11-21T08:46:58Z',
  current_period_end: '2026-12-21T08:46:58Z',
  started_at: '2026-11-21T08:46:58Z',
  trial_start: null,
  trial_end: null,
  billing_cycle_anchor: '2026-11-21T08:46:58Z',
  next_billed_at: null,
  cancel_at: null,
  cancel_at_period_end: false,
  canceled_at: null,
  ended_at: null,
  cancellation: null,
  pause_collection: null,
  paused_at: null,
  collection_method: 'charge_automatically',
  days_until_due: null,
  discounts: [],
  latest_invoice: SAMPLE.invoice,
  schedule: null,
  default_payment_method: SAMPLE.paymentMethod,
  pending_setup_intent: null,
  application_fee_percent: null,
  scheduled_change: null,
})
