import type { Link } from '../../../consumers/links'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { can, pathsOf, type Visit } from '../../page'
import { plural } from '../../ui/format'
import { NamedId } from '../../ui/id'
import { type Column, Table } from '../../ui/table'
import { VendorLabel } from '../../ui/vendor'
import { vendorTitle } from '../../ui/vendor-titles'
import { commonColumns, type NamesOf, opening } from '../billing/columns'
import type { ObjectList } from '../billing/object-list'
import { customerPath } from '../customers/read'
import { eventColumns } from '../events/row'
import type { Latest as LatestObjects } from './latest'
import { LinkedBy } from './parts'
import { NAMED, type ShownConsumer } from './read'

type Props = { c: Visit; of: ShownConsumer }

/** The vendors' customers that the consumer is, and what decides so. */
export function Customers({ c, of: { row, customers, calledOf, linkedBy } }: Props) {
  if (customers.length === 0) {
    return (
      <>
        <h2>Customers</h2>
        <p class="quiet">
          No customer of your vendors is linked to this consumer. <a href={pathsOf(c).unlinked}>Unlinked customers</a>
        </p>
      </>
    )
  }
  const columns: Column<Link>[] = [
    ['Customer', (link) => <NamedId id={link.id} title={calledOf(link)} to={customerPath(c, link)} />],
    ['Vendor', ({ vendor }) => <VendorLabel name={vendor} />],
    [
      'Linked',
      (link) => (
        <span class="text">
          <LinkedBy c={c} of={link} typeOf={linkedBy} />
        </span>
      ),
    ],
  ]
  const actions: Column<Link> = [
    '',
    (link) =>
      link.linked_by === 'manual' ? (
        <a class="button" href={`${customerPath(c, link)}/unpin?from=${row.id}`} data-dialog>
          Unpin<span class="unseen"> {link.id}</span>
        </a>
      ) : (
        <a class="button" href={`${customerPath(c, link)}/consumer`}>
          Change<span class="unseen"> the consumer of {link.id}</span>
        </a>
      ),
  ]
  return (
    <>
      <h2>Customers</h2>
      <Table
        label="Customers"
        rows={customers.slice(0, NAMED)}
        columns={can(c, 'consumers:write') ? [...columns, actions] : columns}
        class="consumers"
      />
      {customers.length > NAMED && (
        <details>
          <summary>{plural(customers.length - NAMED, 'more customer')}</summary>
          <ul>
            {customers.slice(NAMED).map((link) => (
              <li>
                <NamedId id={link.id} title={calledOf(link)} to={customerPath(c, link)} />{' '}
                <span class="quiet">{vendorTitle(link.vendor)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

/** The newest events of the consumer's customers. */
export function Events({ c, of: { row, events } }: Props) {
  if (events.data.length === 0) return <p class="quiet">No events about this consumer’s customers in recent months.</p>
  return (
    <>
      <Table label="Events" rows={events.data} columns={eventColumns(c)} class="events" />
      {events.more && (
        <p class="quiet">
          These are the newest. Your server can list all of them:{' '}
          <code>GET /billing/webhooks/search?consumer={row.id}</code>
        </p>
      )}
    </>
  )
}

type LatestProps<K extends ObjectKind> = Props & { list: ObjectList<K>; found: LatestObjects<K> }

/** The objects of one kind of the customers that changed last. Nothing without customers. */
export function Latest<K extends ObjectKind>({ c, of, list, found: { data, more, namesOf } }: LatestProps<K>) {
  if (of.customers.length === 0) return null
  return (
    <>
      <h2>{list.title}</h2>
      {data.length > 0 ? (
        <Table label={list.title} rows={data} columns={columnsOf(c, list, namesOf)} />
      ) : (
        <p class="quiet">None.</p>
      )}
      {more && (
        <p>
          <a href={`${pathsOf(c).billing}/${list.path}?consumer=${of.row.id}`}>All {list.title.toLowerCase()}</a>
        </p>
      )}
    </>
  )
}

function columnsOf<K extends ObjectKind>(c: Visit, list: ObjectList<K>, namesOf: NamesOf) {
  const all = list.columns(commonColumns(c, list.path, namesOf))
  const own = all.filter(([head]) => head !== 'Customer' && head !== 'Vendor')
  return opening(c, list.path, own)
}
