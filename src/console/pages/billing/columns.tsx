import type { Presented, ShownObjects } from '../../../billing/read/present'
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

export type CommonColumns = Record<'id' | 'customer' | 'vendor' | 'updated', Column<Presented>> & {
  /** The column of the status. @param at see `ObjectList.standingAt` */
  status: <Row extends Presented>(at?: (row: Row, now: number) => string | null) => Column<Row>
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
  const { now } = c.get('rt')
  return {
    id: [
      'ID',
      (row) => (
        <a class="quiet" href={billingPath(c, path, row)}>
          <Id>{row.id}</Id>
        </a>
      ),
      'least',
    ],
    status: (at) => ['Status', (row) => <BillingStanding of={row} now={at?.(row, now)} />],
    customer: ['Customer', (row) => customerIn(namesOf(row), row)],
    vendor: ['Vendor', (row) => vendorTitle(row.vendor), 'least'],
    time: (head, of, kind) => [head, (row) => <Time at={timeOf(of(row))} now={now} none="" />, kind],
    planOf: (row, item) => planIn(namesOf(row), item)?.name,
    updated: ['Updated', (row) => <Time at={timeOf(row.updated_at)} now={now} none="" />],
  }
}

/** The page of an object. @param path the last segment of its list's path */
export const billingPath = (c: Visit, path: string, { id, vendor }: Pick<Presented, 'id' | 'vendor'>) =>
  `${pathsOf(c).billing}/${path}/${encodeURIComponent(id)}?vendor=${vendor}`

type Paid = Pick<Presented, 'customer'> & Partial<Pick<ShownObjects['purchase'], 'customer_name' | 'customer_email'>>

/** What a guest who paid is called: by the name or the email address that the payment has. */
export function guestIn({ customer_name, customer_email }: Paid): string {
  const said = customer_name ?? customer_email
  return said ? `${said} (guest)` : 'Guest'
}

/** What the vendor, or the payment, calls the customer. Undefined: by its id. */
export function payerIn(named: Named | undefined, { customer_name, customer_email }: Paid): string | undefined {
  return named?.customer ?? customer_name ?? customer_email ?? undefined
}

/** What a customer is called: as the consumer is, by the vendor, or as the buyer said; its id where none is known. */
function customerIn(named: Named | undefined, paid: Paid) {
  const name = named?.consumer?.title ?? named?.customer
  if (name !== undefined && name !== null) return name
  if (paid.customer === null) return guestIn(paid)
  return paid.customer_name ?? paid.customer_email ?? <code>{paid.customer}</code>
}

/** Columns of billing objects, with the first one as the link to the page of each. It has the object's id where it says nothing. */
export function opening<Row extends Presented>(c: Visit, path: string, columns: Column<Row>[]): Column<Row>[] {
  const [first, ...others] = columns
  if (first === undefined) return []
  const [head, cell] = first
  const link = (row: Row) => (
    <a class="name" href={billingPath(c, path, row)}>
      {cell(row) || <code>{row.id}</code>}
    </a>
  )
  return [[head, link], ...others]
}
