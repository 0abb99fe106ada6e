import type { Presented } from '../../../billing/read/present'
import type { Column } from '../../ui/table'
import type { CommonColumns } from './columns'

/** The list of one kind of billing object. */
export type ObjectList<Row extends Presented> = {
  kind: 'subscription' | 'invoice' | 'payment_method'
  /** The last segment of the list's path. */
  path: string
  title: string
  /** The statuses to filter by. */
  statuses: readonly string[]
  /** The columns in order. `common` holds the columns that all kinds share. */
  columns: (common: CommonColumns) => Column<Row>[]
}
