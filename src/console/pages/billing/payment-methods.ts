import type { Presented } from '../../../billing/read/present'
import { type Bodies, PAYMENT_METHOD_STATUSES } from '../../../vendors/objects'
import type { ObjectList } from './object-list'

/** The list of payment methods. To add a column, add a line to `columns`. */
export const paymentMethods: ObjectList<Presented & Bodies['payment_method']> = {
  kind: 'payment_method',
  path: 'payment-methods',
  title: 'Payment methods',
  statuses: PAYMENT_METHOD_STATUSES,
  columns: ({ id, status, customer, vendor, updated }) => [
    id,
    status,
    customer,
    ['Card', ({ card }) => (card ? `${card.brand ?? 'card'} … ${card.last4 ?? '?'}` : '')],
    vendor,
    updated,
  ],
}
