import * as z from 'zod'
import { SubscriptionBody } from '../../vendors/objects'
import { listRoute } from '../read/endpoints'
import { listFields } from '../read/fields'
import { Subscription } from './subscription'

export const subscriptionRoutes = listRoute(
  'subscription',
  Subscription,
  z.strictObject({ ...listFields, status: SubscriptionBody.shape.status.optional() }),
)
