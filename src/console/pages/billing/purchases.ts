import type { ShownObjects } from '../../../billing/read/present'
import { PURCHASE_STATUSES } from '../../../vendors/purchase'
import { amountIn, decimal, words } from '../../ui/format'
import type { Priced } from './columns'
import type { ObjectList } from './object-list'

/** The number of a purchase's items that a row names. */
const ITEMS_SHOWN = 2

/** The list of purchases. To add a column, add a line to `columns`, and one to `file` for the CSV. */
export const purchases: ObjectList<'purchase'> = {
  kind: 'purchase',
  path: 'purchases',
  title: 'Purchases',
  statuses: PURCHASE_STATUSES,
  showsPlans: true,
  titleOf: (row, planOf) => itemsOf(row, planOf) || null,
  first: () => ['total', 'refunded_amount', 'paid_at'],
  columns: ({ id, status, customer, vendor, updated, time, planOf }) => [
    customer,
    ['Items', (row) => (row.items_missing ? 'Not known' : itemsOf(row, (item) => planOf(row, item))), 'breaking'],
    ['Total', ({ total, currency }) => amountIn('total', total, currency), 'number'],
    status(),
    [
      'Refunded',
      ({ refunded_amount, currency }) => amountIn('refunded_amount', refunded_amount || null, currency),
      'number spare',
    ],
    time('Paid', ({ paid_at }) => paid_at),
    id,
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

/** What was bought: plans where they are known, else what the vendor calls it. */
function itemsOf({ items }: ShownObjects['purchase'], planOf: (item: Priced) => string | undefined): string {
  const all = items ?? []
  const named = all
    .slice(0, ITEMS_SHOWN)
    .map((item) => planOf(item) ?? item.description ?? words(item.price ?? item.variant ?? item.product))
  const more = all.length - ITEMS_SHOWN
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
