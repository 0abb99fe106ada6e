import * as z from 'zod'
import { PaymentMethodBody } from '../../vendors/objects'
import { listRoute } from '../read/endpoints'
import { listFields } from '../read/fields'
import { PaymentMethod } from './payment-method'

export const paymentMethodRoutes = listRoute(
  'payment_method',
  PaymentMethod,
  z.strictObject({ ...listFields, status: PaymentMethodBody.shape.status.optional() }),
)
