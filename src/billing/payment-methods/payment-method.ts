import * as z from 'zod'
import { named } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { PaymentMethodBody } from '../../vendors/objects'
import { shownExample, shownObject } from '../read/fields'

const is_default = z
  .boolean()
  .nullable()
  .describe(
    "Whether it is its customer's default, by the customer's events. Null if no event of the customer is known.",
  )

/** A payment method as the API shows it. */
export const PaymentMethod = named('PaymentMethod', shownObject({ ...PaymentMethodBody.shape, is_default }), {
  ...shownExample,
  id: SAMPLE.paymentMethod,
  status: 'attached',
  vendor_status: null,
  type: 'card',
  card: {
    brand: 'visa',
    last4: '4242',
    exp_month: 12,
    exp_year: 2030,
    funding: 'credit',
    country: 'DE',
    fingerprint: 'oPS2CZBviZaiMQyc',
  },
  last4: '4242',
  bank: null,
  wallet: null,
  billing_details: { name: 'Ada Lovelace', email: SAMPLE.email, phone: null, address: null },
  is_default: true,
})
