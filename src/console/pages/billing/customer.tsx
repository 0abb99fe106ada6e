import type { customerOf } from '../../../billing/customers/read'
import type { Presented, ShownObjects } from '../../../billing/read/present'
import type { Link } from '../../../consumers/links'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { paymentOfGuest } from '../../../vendors/guest'
import { pageBefore } from '../../lead'
import { can, pathsOf, type Visit } from '../../page'
import { Post } from '../../ui/controls'
import { plural } from '../../ui/format'
import { Id } from '../../ui/id'
import { show } from '../../ui/layout'
import { Fact, Head } from '../../ui/parts'
import { Table } from '../../ui/table'
import { VendorLabel } from '../../ui/vendor'
import { ConsumerOf } from '../customers/link'
import { customerPath } from '../customers/read'
import { commonColumns, type NamesOf, opening } from './columns'
import { invoices } from './invoices'
import { currencyOf, Discounts, type Lists, Metadata } from './object'
import type { ObjectList } from './object-list'
import { paymentMethods } from './payment-methods'
import { purchases } from './purchases'
import { BillingStanding, Doubt } from './standing'
import { subscriptions } from './subscriptions'
import { Value } from './value'

type Customer = NonNullable<ReturnType<typeof customerOf>>

type About = {
  link: Link
  /** What the consumer is called, if there is one. */
  consumer: string | undefined
  /** The types of the events that the page names, by their ids. */
  typeOf: ReadonlyMap<string, string>
  /** The plans of its objects. */
  namesOf: NamesOf
  /** Whether the page offers to ask the vendor now. */
  refreshes: boolean
}

/** A vendor's customer: which consumer it is, what its own events say about it, and its objects. */
export function customerPage(c: Visit, customer: Customer, { link, consumer, typeOf, namesOf, refreshes }: About) {
  const { events } = pathsOf(c)
  const { id, vendor, source_event_id, status, vendor_status, ambiguous, incomplete, metadata, ...rest } = customer
  const {
    subscriptions: subs,
    invoices: bills,
    payment_methods,
    purchases: bought,
    discounts,
    ...fields
  } = rest as typeof rest & Lists
  const { name, email } = customer
  const title = name ?? email ?? id
  const around = { now: c.get('rt').now, currency: currencyOf(customer as unknown as Presented) }
  return show(
    c,
    { title, ...listBefore(c) },
    <>
      <Head
        title={
          <>
            {title}{' '}
            {status !== null && <BillingStanding of={{ vendor, status, vendor_status, ambiguous, incomplete }} />}
          </>
        }
      >
        {refreshes && can(c, 'billing:write') && (
          <Post c={c} to={`${customerPath(c, customer)}/refresh`} class="once">
            <button type="submit">Refresh</button>
          </Post>
        )}
        <a class="button" href={`${events}?ref=${encodeURIComponent(paymentOfGuest(vendor, id) ?? id)}`}>
          All events
        </a>
      </Head>
      <Doubt of={{ ambiguous, incomplete }} />
      {source_event_id === null && (
        <p class="quiet">
          We have received events about this customer’s objects, but none about the customer itself yet.
        </p>
      )}
      <dl class="facts">
        <Fact name="ID">
          <Id>{id}</Id>
        </Fact>
        <Fact name="Vendor">
          <VendorLabel name={vendor} />
        </Fact>
        {can(c, 'consumers:read') && (
          <Fact name="Consumer">
            <ConsumerOf c={c} link={link} title={consumer} typeOf={typeOf} />{' '}
            {can(c, 'consumers:write') && !link.erased && (
              <a href={`${customerPath(c, link)}/consumer`}>
                {link.linked_by === null || link.consumer_id === null ? 'Link to a consumer' : 'Change'}
              </a>
            )}
          </Fact>
        )}
        {source_event_id !== null && (
          <Fact name="Source event">
            <a href={`${events}/${source_event_id}`}>{typeOf.get(source_event_id) ?? source_event_id}</a>
          </Fact>
        )}
        {Object.entries(fields)
          .filter(([, value]) => value !== title)
          .map(([name, value]) => (
            <Value name={name} value={value} {...around} />
          ))}
      </dl>
      <Latest {...{ c, customer, namesOf }} list={subscriptions} of={subs} />
      <Latest {...{ c, customer, namesOf }} list={invoices} of={bills} />
      <Latest {...{ c, customer, namesOf }} list={purchases} of={bought} />
      <Latest {...{ c, customer, namesOf }} list={paymentMethods} of={payment_methods} />
      <Discounts of={discounts} {...around} />
      <Metadata of={metadata} />
    </>,
  )
}

/** The list that the visitor came from: the page before was the list, or was about something in it. By default, the list of subscriptions. */
function listBefore(c: Visit) {
  const { billing, consumers, events, unlinked } = pathsOf(c)
  const [before = ''] = pageBefore(c).split('?')
  const consumer = before.startsWith(`${consumers}/`) && /^csm_\w+/.exec(before.slice(consumers.length + 1))?.[0]
  const lists = [
    ...[subscriptions, invoices, purchases, paymentMethods].map(({ path, title }) => ({
      section: path,
      above: [title, `${billing}/${path}`] as const,
    })),
    { section: 'events', above: ['Events', events] },
    { section: 'unlinked', above: ['Unlinked customers', unlinked] },
    // It lists its customers.
    ...(consumer ? [{ section: 'consumers', above: ['Consumer', `${consumers}/${consumer}`] } as const] : []),
  ] as const
  return lists.find(({ above: [, path] }) => before === path || before.startsWith(`${path}/`)) ?? lists[0]
}

type LatestProps<K extends ObjectKind> = {
  c: Visit
  customer: Customer
  namesOf: NamesOf
  list: ObjectList<K>
  of: { data: ShownObjects[K][]; has_more: boolean }
}

/** The objects of one kind that changed last. */
function Latest<K extends ObjectKind>({ c, customer, namesOf, list, of: { data, has_more } }: LatestProps<K>) {
  const all = `${pathsOf(c).billing}/${list.path}?customer=${encodeURIComponent(customer.id)}`
  const own = list
    .columns(commonColumns(c, list.path, namesOf))
    .filter(([head]) => head !== 'Customer' && head !== 'Vendor')
  return (
    <>
      <h2>{list.title}</h2>
      {data.length === 0 ? (
        <p class="quiet">None.</p>
      ) : (
        <Table label={list.title} rows={data} columns={opening(c, list.path, own)} />
      )}
      {has_more && (
        <p>
          <a href={all}>All {list.title.toLowerCase()}</a>, beyond the {plural(data.length, 'row')} shown here
        </p>
      )}
    </>
  )
}
