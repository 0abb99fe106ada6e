import * as z from 'zod'
import { InvoiceBody, PaymentMethodBody, SubscriptionBody } from '../vendors/objects'
import { Invoice } from './invoices/invoice'
import { PaymentMethod } from './payment-methods/payment-method'
import { listRoute } from './read/endpoints'
import { listFields, vendorId } from './read/fields'
import { Subscription } from './subscriptions/subscription'

export const subscriptionRoutes = listRoute(
  'subscription',
  Subscription,
  z.strictObject({ ...listFields, status: SubscriptionBody.shape.status.optional() }),
)

export const paymentMethodRoutes = listRoute(
  'payment_method',
  PaymentMethod,
  z.strictObject({ ...listFields, status: PaymentMethodBody.shape.status.optional() }),
)

export const invoiceRoutes = listRoute(
  'invoice',
  Invoice,
  z.strictObject({
    ...listFields,
    subscription: vendorId.optional(),
    status: InvoiceBody.shape.status.optional().describe('Deleted invoices are listed only with `status=deleted`.'),
  }),
)
