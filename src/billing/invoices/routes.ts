import * as z from 'zod'
import { InvoiceBody } from '../../vendors/objects'
import { listRoute } from '../read/endpoints'
import { listFields, vendorId } from '../read/fields'
import { Invoice } from './invoice'

export const invoiceRoutes = listRoute(
  'invoice',
  Invoice,
  z.strictObject({
    ...listFields,
    subscription: vendorId.optional(),
    status: InvoiceBody.shape.status.optional().describe('Deleted invoices are listed only with `status=deleted`.'),
  }),
)
