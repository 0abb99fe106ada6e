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
    ['Type', ({ type }) => type?.replaceAll('_', ' ')],
    ['Ends in', ({ card, bank, last4 }) => [card?.brand ?? bank, last4 && `… ${last4}`].filter(Boolean).join(' ')],
    ['Card expires', ({ card }) => (card?.exp_year ? `${card.exp_month ?? '?'}/${card.exp_year}` : '')],
    vendor,
    updated,
  ],
}
