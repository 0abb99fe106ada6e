import * as z from 'zod'
import { named } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { SubscriptionBody } from '../../vendors/objects'
import { objectRoutes } from '../read/endpoints'
import { listFields, shownExample, shownObject } from '../read/fields'

const Subscription = named('Subscription', shownObject(SubscriptionBody.shape), {
  ...shownExample,
  id: SAMPLE.subscription,
  status: 'active',
  vendor_status: 'active',
  currency: 'EUR',
  items: [{ id: 'si_RYsC4', price: 'price_1QZ4k', product: 'prod_RYsA2', quantity: 1 }],
  current_period_start: '2026-11-21T08:46:58Z',
  current_period_end: '2026-12-21T08:46:58Z',
  trial_end: null,
  cancel_at: null,
  cancel_at_period_end: false,
  canceled_at: null,
  ended_at: null,
  default_payment_method: SAMPLE.paymentMethod,
  scheduled_change: null,
})

export const subscriptionRoutes = objectRoutes(
  'subscription',
  Subscription,
  z.strictObject({ ...listFields, status: SubscriptionBody.shape.status.optional() }),
)
