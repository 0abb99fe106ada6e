import type { Presented } from '../../../billing/read/present'
import { type Bodies, SUBSCRIPTION_STATUSES } from '../../../vendors/objects'
import { words } from '../../ui/format'
import type { ObjectList } from './object-list'

/** The number of characters of a subscription's items that a row shows. */
const ITEMS_SHOWN = 120

/** The list of subscriptions. To add a column, add a line to `columns`. */
export const subscriptions: ObjectList<Presented & Bodies['subscription']> = {
  kind: 'subscription',
  path: 'subscriptions',
  title: 'Subscriptions',
  statuses: SUBSCRIPTION_STATUSES,
  columns: ({ id, status, customer, vendor, updated }) => [
    id,
    status,
    customer,
    ['Items', (row) => words(row.items).slice(0, ITEMS_SHOWN)],
    vendor,
    updated,
  ],
}
