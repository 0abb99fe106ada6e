import type { ShownObjects } from '../../../billing/read/present'
import type { ObjectKind } from '../../../lib/billing-kinds'
import type { ColumnsOf } from '../../browser'
import type { CsvColumn } from '../../csv'
import type { Column } from '../../ui/table'
import type { CommonColumns, Priced } from './columns'

/** The last segment of a list's path, which is the name of its section too. */
export type ListPath = Exclude<ColumnsOf, 'events'>

export type FirstField<Name extends string> = Name | readonly [label: string, name: Name]

/** The list of one kind of billing object. */
export type ObjectList<K extends ObjectKind> = {
  kind: K
  path: ListPath
  title: string
  /** The statuses to filter by. */
  statuses: readonly string[]
  /** Whether a column shows the plans of an object's items. */
  showsPlans: boolean
  /** What an object is called where its page begins; null: by its id. */
  titleOf: (row: ShownObjects[K], planOf: (item: Priced) => string | undefined) => string | null
  /** A word for what the status of an object means at a time (ms), where that says more; else null. */
  standingAt?: (row: ShownObjects[K], now: number) => string | null
  /** The fields that its page shows first, in order, with their labels if those are not their names. */
  first: (row: ShownObjects[K]) => readonly FirstField<keyof ShownObjects[K] & string>[]
  /** The columns in order. The first one becomes the link to the page of its object. `common` holds the columns that all kinds share. */
  columns: (common: CommonColumns) => Column<ShownObjects[K]>[]
  /** The columns of its file between those that all kinds share. */
  file: CsvColumn<ShownObjects[K]>[]
}
