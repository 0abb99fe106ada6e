import type { Presented } from '../../../billing/read/present'
import { type Bodies, INVOICE_STATUSES } from '../../../vendors/objects'
import { money } from '../../ui/format'
import type { ObjectList } from './object-list'

/** The list of invoices. To add a column, add a line to `columns`. */
export const invoices: ObjectList<Presented & Bodies['invoice']> = {
  kind: 'invoice',
  path: 'invoices',
  title: 'Invoices',
  statuses: INVOICE_STATUSES,
  columns: ({ id, status, customer, vendor, updated }) => [
    id,
    status,
    customer,
    ['Total', ({ total, currency }) => (total !== null && currency ? money({ value: total, currency }) : '')],
    vendor,
    updated,
  ],
}
