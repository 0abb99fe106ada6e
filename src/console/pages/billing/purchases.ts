import { PURCHASE_STATUSES } from '../../../vendors/purchase'
import { amountIn, decimal, words } from '../../ui/format'
import type { ObjectList } from './object-list'

/** The number of a purchase's items that a row names. */
const ITEMS_SHOWN = 2

/** The list of purchases. To add a column, add a line to `columns`. */
export const purchases: ObjectList<'purchase'> = {
  kind: 'purchase',
  path: 'purchases',
  title: 'Purchases',
  statuses: PURCHASE_STATUSES,
  showsPlans: true,
  columns: ({ id, status, customer, vendor, updated, time, planOf }) => [
    id,
    status,
    customer,
    [
      'Items',
      (row) => {
        const items = row.items ?? []
        const named = items
          .slice(0, ITEMS_SHOWN)
          .map((item) => planOf(row, item) ?? item.description ?? words(item.price ?? item.variant ?? item.product))
        const more = items.length - ITEMS_SHOWN
        return row.items_missing ? 'Not known' : named.join(', ') + (more > 0 ? ` and ${more} more` : '')
      },
    ],
    ['Total', ({ total, currency }) => amountIn('total', total, currency), 'number'],
    [
      'Money back',
      ({ refunded_amount, currency }) => amountIn('refunded_amount', refunded_amount, currency),
      'number spare',
    ],
    time('Paid', ({ paid_at }) => paid_at),
    vendor,
    updated,
  ],
  file: [
    ['products', ({ items }) => items?.map(({ price, variant, product }) => price ?? variant ?? product).join(' ')],
    ['currency', ({ currency }) => currency],
    ['total', ({ total, currency }) => decimal(total, currency)],
    ['refunded_amount', ({ refunded_amount, currency }) => decimal(refunded_amount, currency)],
    ['paid_at', ({ paid_at }) => paid_at],
  ],
}
