import type { Context } from 'hono'
import type { Presented } from '../../../billing/present'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { Time } from '../../ui/parts'
import type { Column } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'
import { Standing } from './standing'
import { timeOf } from './times'

export type CommonColumns = Record<'id' | 'status' | 'customer' | 'vendor' | 'changed', Column<Presented>>

/** The columns that the lists of all kinds have. @param path of the list */
export function commonColumns(c: Context<HttpEnv>, path: string): CommonColumns {
  const at = `${pathsOf(c).billing}/${path}`
  const { now } = c.get('rt')
  return {
    id: [
      'Id',
      ({ id, vendor }) => (
        <a href={`${at}/${encodeURIComponent(id)}?vendor=${vendor}`}>
          <code>{id}</code>
        </a>
      ),
    ],
    status: ['Status', (row) => <Standing of={row} />],
    customer: ['Customer', (row) => <code>{row.customer}</code>],
    vendor: ['Vendor', (row) => vendorTitle(row.vendor)],
    changed: ['Changed', (row) => <Time at={timeOf(row.updated_at)} now={now} none="" />],
  }
}
