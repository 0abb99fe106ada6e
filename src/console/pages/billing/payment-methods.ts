import type { Presented } from '../../../billing/present'
import { type Bodies, PAYMENT_METHOD_STATUSES } from '../../../vendors/objects'
import type { ObjectList } from './kinds'

/** Payment methods: a column of their list is a line here. */
export const paymentMethods: ObjectList<Presented & Bodies['payment_method']> = {
  kind: 'payment_method',
  path: 'payment-methods',
  title: 'Payment methods',
  statuses: PAYMENT_METHOD_STATUSES,
  columns: ({ id, status, customer, vendor, changed }) => [
    id,
    status,
    customer,
    ['What', ({ card }) => (card ? `${card.brand ?? 'card'} … ${card.last4 ?? '?'}` : '')],
    vendor,
    changed,
  ],
}
