import type { Presented } from '../../../billing/read/present'
import type { Named } from '../../../entitlements/named'
import { pathsOf, type Visit } from '../../page'
import { timeOf } from '../../ui/format'
import { Id } from '../../ui/id'
import { Time } from '../../ui/parts'
import type { Column } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'
import { BillingStanding } from './standing'

/** The names that belong to objects of a list: see `Named`. */
export type NamesOf = (row: Pick<Presented, 'vendor' | 'id'>) => Named | undefined

export type CommonColumns = Record<'id' | 'status' | 'customer' | 'vendor' | 'updated', Column<Presented>> & {
  /** A column of times. */
  time: <Row>(head: string, of: (row: Row) => string | null, kind?: 'spare') => Column<Row>
  /** The name of the plan that an item of a row is for; undefined if it is for none. */
  planOf: (row: Pick<Presented, 'vendor' | 'id'>, item: Priced) => string | undefined
}

/** What says which plan an item is for, the most exact first. */
export type Priced = { price?: unknown; variant?: unknown; product?: unknown }

/** The plan that an item is for. */
export function planIn(named: Named | undefined, { price, variant, product }: Priced) {
  const of = (ref: unknown) => named?.plans.find((plan) => plan.ref === ref)
  return of(price) ?? of(variant) ?? of(product)
}

/**
 * The columns that the lists of all kinds share.
 *
 * @param path the last segment of the list's path
 */
export function commonColumns(c: Visit, path: string, namesOf: NamesOf = () => undefined): CommonColumns {
  const at = `${pathsOf(c).billing}/${path}`
  const { now } = c.get('rt')
  return {
    id: [
      'ID',
      ({ id, vendor }) => (
        <a href={`${at}/${encodeURIComponent(id)}?vendor=${vendor}`}>
          <Id>{id}</Id>
        </a>
      ),
    ],
    status: ['Status', (row) => <BillingStanding of={row} />],
    customer: [
      'Customer',
      (row) => {
        const { customer, vendor } = row
        const consumer = namesOf(row)?.consumer
        return (
          (customer || consumer) && (
            <>
              {consumer && (
                <a class="name line" href={`${pathsOf(c).consumers}/${consumer.id}`}>
                  {consumer.title}
                </a>
              )}
              {customer ? (
                <a href={`${pathsOf(c).billing}/customers/${vendor}/${encodeURIComponent(customer)}`}>
                  <Id>{customer}</Id>
                </a>
              ) : (
                <span class="quiet">Guest</span>
              )}
            </>
          )
        )
      },
    ],
    vendor: ['Vendor', (row) => vendorTitle(row.vendor), 'spare'],
    time: (head, of, kind) => [head, (row) => <Time at={timeOf(of(row))} now={now} none="" />, kind],
    planOf: (row, item) => planIn(namesOf(row), item)?.name,
    updated: ['Updated', (row) => <Time at={timeOf(row.updated_at)} now={now} none="" />],
  }
}
