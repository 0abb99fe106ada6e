import * as z from 'zod'
import { PaymentMethodBody } from '../../vendors/objects'
import { objectRoutes } from '../read/endpoints'
import { listFields, shownObject } from '../read/fields'

const PaymentMethod = shownObject(PaymentMethodBody.shape).meta({ id: 'PaymentMethod' })

export const paymentMethodRoutes = objectRoutes(
  'payment_method',
  PaymentMethod,
  z.strictObject({ ...listFields, status: PaymentMethodBody.shape.status.optional() }),
)
