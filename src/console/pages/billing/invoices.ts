import type { Presented } from '../../../billing/present'
import { type Bodies, INVOICE_STATUSES } from '../../../vendors/objects'
import { money } from '../../ui/format'
import type { ObjectList } from './kinds'

/** Invoices: a column of their list is a line here. */
export const invoices: ObjectList<Presented & Bodies['invoice']> = {
  kind: 'invoice',
  path: 'invoices',
  title: 'Invoices',
  statuses: INVOICE_STATUSES,
  columns: ({ id, status, customer, vendor, changed }) => [
    id,
    status,
    customer,
    ['What', ({ total, currency }) => (total !== null && currency ? money({ value: total, currency }) : '')],
    vendor,
    changed,
  ],
}
