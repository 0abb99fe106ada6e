import * as z from 'zod'
import { SubscriptionBody } from '../../vendors/objects'
import { objectRoutes } from '../read/endpoints'
import { listFields, shownObject } from '../read/fields'

const Subscription = shownObject(SubscriptionBody.shape).meta({ id: 'Subscription' })

export const subscriptionRoutes = objectRoutes(
  'subscription',
  Subscription,
  z.strictObject({ ...listFields, status: SubscriptionBody.shape.status.optional() }),
)
