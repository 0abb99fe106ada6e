import * as z from 'zod'
import { named } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { PaymentMethodBody } from '../../vendors/objects'
import { objectRoutes } from '../read/endpoints'
import { listFields, shownExample, shownObject } from '../read/fields'

const PaymentMethod = named('PaymentMethod', shownObject(PaymentMethodBody.shape), {
  ...shownExample,
  id: SAMPLE.paymentMethod,
  status: 'attached',
  vendor_status: null,
  type: 'card',
  card: { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030 },
})

export const paymentMethodRoutes = objectRoutes(
  'payment_method',
  PaymentMethod,
  z.strictObject({ ...listFields, status: PaymentMethodBody.shape.status.optional() }),
)
