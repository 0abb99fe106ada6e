import * as z from 'zod'
import { InvoiceBody } from '../../vendors/objects'
import { objectRoutes } from '../read/endpoints'
import { listFields, shownObject, vendorId } from '../read/fields'

const Invoice = shownObject(InvoiceBody.shape).meta({ id: 'Invoice' })

export const invoiceRoutes = objectRoutes(
  'invoice',
  Invoice,
  z.strictObject({
    ...listFields,
    subscription: vendorId.optional(),
    status: InvoiceBody.shape.status.optional().describe('Deleted invoices are listed only with `status=deleted`.'),
  }),
)
