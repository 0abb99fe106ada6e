import type { Presented } from '../../../billing/present'
import { type Bodies, SUBSCRIPTION_STATUSES } from '../../../vendors/objects'
import { words } from '../../ui/format'
import type { ObjectList } from './kinds'

/** Characters of a subscription's items that its row shows. */
const ITEMS_SHOWN = 120

/** Subscriptions: a column of their list is a line here. */
export const subscriptions: ObjectList<Presented & Bodies['subscription']> = {
  kind: 'subscription',
  path: 'subscriptions',
  title: 'Subscriptions',
  statuses: SUBSCRIPTION_STATUSES,
  columns: ({ id, status, customer, vendor, changed }) => [
    id,
    status,
    customer,
    ['What', (row) => words(row.items).slice(0, ITEMS_SHOWN)],
    vendor,
    changed,
  ],
}
