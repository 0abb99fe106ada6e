import type { Presented } from '../../../billing/read/present'
import { pathsOf, type Visit } from '../../page'
import { timeOf } from '../../ui/format'
import { Time } from '../../ui/parts'
import type { Column } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'
import { BillingStanding } from './standing'

export type CommonColumns = Record<'id' | 'status' | 'customer' | 'vendor' | 'updated', Column<Presented>> & {
  /** A column of times. */
  time: <Row>(head: string, of: (row: Row) => string | null, kind?: 'spare') => Column<Row>
}

/** The columns that the lists of all kinds share. @param path the last segment of the list's path */
export function commonColumns(c: Visit, path: string): CommonColumns {
  const at = `${pathsOf(c).billing}/${path}`
  const { now } = c.get('rt')
  return {
    id: [
      'ID',
      ({ id, vendor }) => (
        <a href={`${at}/${encodeURIComponent(id)}?vendor=${vendor}`}>
          <code>{id}</code>
        </a>
      ),
    ],
    status: ['Status', (row) => <BillingStanding of={row} />],
    customer: [
      'Customer',
      ({ customer, vendor }) =>
        customer && (
          <a href={`${pathsOf(c).billing}/customers/${vendor}/${encodeURIComponent(customer)}`}>
            <code>{customer}</code>
          </a>
        ),
    ],
    vendor: ['Vendor', (row) => vendorTitle(row.vendor), 'spare'],
    time: (head, of, kind) => [head, (row) => <Time at={timeOf(of(row))} now={now} none="" />, kind],
    updated: ['Updated', (row) => <Time at={timeOf(row.updated_at)} now={now} none="" />],
  }
}
