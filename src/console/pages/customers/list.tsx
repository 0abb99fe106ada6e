import { keyOf } from '../../../consumers/customer-fields'
import { can, pathsOf, type Visit } from '../../page'
import { TestBadge } from '../../ui/badge'
import { BothModes } from '../../ui/both-modes'
import { Choose, Choosing } from '../../ui/choosing'
import { Id } from '../../ui/id'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head } from '../../ui/parts'
import { type Column, EMAIL_COLUMN, Table } from '../../ui/table'
import { Total } from '../../ui/total'
import { VendorLabel } from '../../ui/vendor'
import { LinkedBy } from '../consumers/parts'
import { partPath } from '../general/tabs'
import { customerPath, type ShownCustomer, type UnlinkedCustomers } from './read'

/** The customers of vendors that are not linked to a consumer, and how each is linked to one. */
export function unlinkedPage(c: Visit, page: UnlinkedCustomers, settled: boolean) {
  const choosing = !settled && can(c, 'consumers:write')
  return show(
    c,
    { title: 'Unlinked customers', section: 'unlinked' },
    <>
      <Head title="Unlinked customers" />
      <BothModes c={c}>Customers</BothModes>
      <nav class="chips" aria-label="Customers">
        <a href={pathsOf(c).unlinked} aria-current={settled ? undefined : 'true'}>
          Without a consumer
        </a>
        <a href={`${pathsOf(c).unlinked}?settled=true`} aria-current={settled ? 'true' : undefined}>
          Marked as having none
        </a>
      </nav>
      {page.data.length > 0 ? (
        <>
          <p class="quiet">
            {settled
              ? 'Vendor customers that a member marked as having no consumer, or whose consumer was erased.'
              : 'Vendor customers that are not linked to a consumer, with or without a subscription.'}
          </p>
          <Total n={page.total} one="customer" />
          <Choosing may={choosing} to={`${pathsOf(c).unlinked}/link`} verb="Link selected…">
            <Table
              label="Unlinked customers"
              rows={page.data}
              columns={columnsOf(c, choosing, page.typeOf)}
              class="consumers"
              choosing={choosing}
            />
          </Choosing>
        </>
      ) : (
        <None settled={settled} truncated={page.truncated} more={c.req.query('cursor') !== undefined} />
      )}
      {page.truncated && <p>There may be more matches. Continue on the next page.</p>}
      <Pager c={c} cursor={page.next_cursor} />
      <HowToLink c={c} />
    </>,
  )
}

function None({ settled, truncated, more }: { settled: boolean; truncated: boolean; more: boolean }) {
  if (settled && !truncated) return <p class="empty">No {more && 'more '}customers are marked as having no consumer.</p>
  if (truncated) return <p class="quiet">No unlinked customers so far.</p>
  return (
    <section class="empty">
      <h2>No {more && 'more '}unlinked customers</h2>
      <p>A customer appears here when an event mentions it and it is not linked to a consumer.</p>
    </section>
  )
}

function columnsOf(c: Visit, choosing: boolean, typeOf: UnlinkedCustomers['typeOf']): Column<ShownCustomer>[] {
  const columns: Column<ShownCustomer>[] = [
    [
      'Customer',
      (row) => (
        <>
          {choosing && <Choose id={keyOf(row.link)} name={row.name ?? row.link.id} />}
          <CustomerName c={c} of={row} />
        </>
      ),
    ],
    EMAIL_COLUMN,
    ['Vendor', ({ link }) => <VendorLabel name={link.vendor} />],
    ['Consumer ID', (row) => row.link.linked_by !== null && <Claimed c={c} of={row} typeOf={typeOf} />],
  ]
  const link: Column<ShownCustomer> = [
    '',
    ({ link }) =>
      !link.erased && (
        <a class="button" href={`${customerPath(c, link)}/consumer`}>
          Link to…<span class="unseen"> a consumer: {link.id}</span>
        </a>
      ),
  ]
  return can(c, 'consumers:write') ? [...columns, link] : columns
}

/** A customer by its name, with its id below; by its id if it has no name. */
export function CustomerName({ c, of: { link, name, livemode } }: { c: Visit; of: ShownCustomer }) {
  const path = customerPath(c, link)
  if (name === null) {
    return (
      <>
        <a href={path}>
          <Id>{link.id}</Id>
        </a>{' '}
        <TestBadge of={livemode} />
      </>
    )
  }
  return (
    <>
      <a href={path}>{name}</a> <TestBadge of={livemode} />
      <span class="line quiet">
        <Id>{link.id}</Id>
      </span>
    </>
  )
}

/** What is known: an external id that no consumer has, or that the customer is no consumer. */
function Claimed({ c, of: { link }, typeOf }: { c: Visit; of: ShownCustomer } & Pick<UnlinkedCustomers, 'typeOf'>) {
  if (link.erased) return <span class="quiet">Its consumer was erased</span>
  if (link.linked_by === 'manual') return <span class="quiet">No consumer, set manually</span>
  return (
    <span class="text">
      <code>{link.external_id}</code>{' '}
      <span class="line quiet">
        <LinkedBy c={c} of={link} typeOf={typeOf} />
      </span>
    </span>
  )
}

function HowToLink({ c }: { c: Visit }) {
  return (
    <details class="raw">
      <summary>How events link customers</summary>
      <p>
        When your server creates a customer at the vendor, send your own consumer ID with it. Events then link the
        customer to the consumer, in whatever order they arrive.
      </p>
      <ul>
        <li>
          Stripe: <code>metadata[consumer_external_id]</code> of the customer.
        </li>
        <li>
          Paddle: <code>custom_data.consumer_external_id</code> of the customer.
        </li>
      </ul>
      <p>
        You can change the key under <a href={partPath(c, 'consumers')}>General</a>.
      </p>
      <p>
        If an event contains an ID that no consumer has yet, the customer is linked as soon as a consumer has the ID.
      </p>
    </details>
  )
}
