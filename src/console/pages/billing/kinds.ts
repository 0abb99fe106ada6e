import type { Presented } from '../../../billing/present'
import type { Column } from '../../ui/table'
import type { CommonColumns } from './columns'

/** A kind of billing object, as the console lists it. */
export type ObjectList<Row extends Presented> = {
  kind: 'subscription' | 'invoice' | 'payment_method'
  /** The last step of the list's address. */
  path: string
  title: string
  /** The statuses that the list can be searched by. */
  statuses: readonly string[]
  /** The columns of the list, in order; those that all kinds have are given. */
  columns: (common: CommonColumns) => Column<Row>[]
}
