import * as z from 'zod'
import { named } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { InvoiceBody } from '../../vendors/objects'
import { objectRoutes } from '../read/endpoints'
import { listFields, shownExample, shownObject, vendorId } from '../read/fields'

const Invoice = named('Invoice', shownObject(InvoiceBody.shape), {
  ...shownExample,
  id: SAMPLE.invoice,
  status: 'paid',
  vendor_status: 'paid',
  number: 'B7F3-0001',
  subscription: SAMPLE.subscription,
  currency: 'EUR',
  total: 4900,
  amount_due: 4900,
  amount_paid: 4900,
  period_start: '2026-11-21T08:46:58Z',
  period_end: '2026-12-21T08:46:58Z',
  due_date: null,
  next_payment_attempt: null,
  hosted_invoice_url: null,
})

export const invoiceRoutes = objectRoutes(
  'invoice',
  Invoice,
  z.strictObject({
    ...listFields,
    subscription: vendorId.optional(),
    status: InvoiceBody.shape.status.optional().describe('Deleted invoices are listed only with `status=deleted`.'),
  }),
)
