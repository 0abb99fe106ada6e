import type { Presented, ShownObjects } from '../../../billing/read/present'
import type { PurchaseGives } from '../../../entitlements/given'
import type { Named } from '../../../entitlements/named'
import type { TimelinePage } from '../../../inbox/timeline/read'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { pathsOf, type Visit } from '../../page'
import { Id, NamedId } from '../../ui/id'
import { show } from '../../ui/layout'
import { Copyable, Fact, Head } from '../../ui/parts'
import { VendorLabel } from '../../ui/vendor'
import { billingPath, guestIn, payerIn, planIn } from './columns'
import { GivesNothing, givesColumn } from './gives'
import { MoneyBack, type Returned } from './money-back'
import type { ObjectList } from './object-list'
import { BillingStanding, Doubt } from './standing'
import { Timeline } from './timeline'
import { BillingParts, Value } from './value'

/** `gives`: what a purchase gives; null if its consumer has too many of them. `titles`: what the objects that it names are called, by their ids. */
export type Detail = {
  object: Presented
  named: Named | undefined
  isOverdue: boolean
  timeline: TimelinePage
  gives?: PurchaseGives | null
  titles?: ReadonlyMap<string, string>
}

/** A billing object: what matters first, its parts, its other fields and its timeline. @param list the list that it belongs to */
export function objectDetail<K extends ObjectKind>(c: Visit, list: ObjectList<K>, of: Detail) {
  const { billing } = pathsOf(c)
  const { object, named, isOverdue, timeline, gives } = of
  const { items, lines, metadata, discounts, refunds = [], disputes = [] } = object as Presented & Lists
  const around = { now: c.get('rt').now, currency: currencyOf(object) }
  const parts = items ?? lines?.data ?? []
  const planOf = (part: Row) => {
    const plan = planIn(named, part)
    return plan && <a href={`${pathsOf(c).plans}/${plan.id}`}>{plan.name}</a>
  }
  const first = list
    .first(object as ShownObjects[K])
    .map((one) => (typeof one === 'string' ? ([undefined, one] as const) : one))
  const title = list.titleOf(object as ShownObjects[K], (item) => planIn(named, item)?.name) ?? object.id
  return show(
    c,
    { title, section: list.path, above: [list.title, `${billing}/${list.path}`] },
    <>
      <Head
        title={
          <>
            {title} <BillingStanding of={object} now={list.standingAt?.(object as ShownObjects[K], around.now)} />
          </>
        }
      />
      <Doubt of={object} />
      {isOverdue && (
        <p class="warning">
          The subscription should have renewed, but nothing has been received about it since its period ended. Check in
          the vendor’s dashboard whether it renewed, and whether its events were sent.
        </p>
      )}
      <First c={c} first={first} of={of} />
      {parts.length > 0 && (
        <>
          <h2>{items ? 'Items' : 'Lines'}</h2>
          <BillingParts
            label={items ? 'Items' : 'Lines'}
            rows={parts}
            currency={around.currency}
            planOf={planOf}
            gives={gives && givesColumn(c, { object, parts, gives })}
          />
        </>
      )}
      <GivesNothing of={gives} />
      {lines?.has_more && <p class="quiet">The event did not contain all lines. The vendor has the rest.</p>}
      <MoneyBack c={c} object={object} refunds={refunds} disputes={disputes} typeOf={typesIn(timeline)} />
      <Fields c={c} first={first.map(([, name]) => name)} of={of} />
      <Discounts of={discounts} {...around} />
      <Metadata of={metadata} />
      <Timeline c={c} page={timeline} currency={around.currency} titles={titlesIn(of)} />
    </>,
  )
}

type FirstProps = { c: Visit; first: readonly (readonly [label: string | undefined, name: string])[]; of: Detail }

/** Whose the object is, and what a reader wants to know of it first. */
function First({ c, first, of: { object, named, gives } }: FirstProps) {
  const { billing, consumers } = pathsOf(c)
  const around = { now: c.get('rt').now, currency: currencyOf(object) }
  const { vendor, customer } = object
  const payer = customer ?? gives?.customer
  const customerAt = (id: string) => `${billing}/customers/${vendor}/${encodeURIComponent(id)}`
  return (
    <dl class="facts glance">
      {named?.consumer && (
        <Fact name="Consumer">
          <a href={`${consumers}/${named.consumer.id}`}>{named.consumer.title}</a>
        </Fact>
      )}
      {payer && (
        <Fact name="Customer">
          {customer === null ? (
            <a href={customerAt(payer)}>{guestIn(object)}</a>
          ) : (
            <NamedId id={customer} title={payerIn(named, object)} to={customerAt(customer)} />
          )}
        </Fact>
      )}
      {first.map(([label, name]) => (
        <Value name={name} label={label} value={(object as Row)[name]} brief {...around} />
      ))}
      <Fact name="Vendor">
        <VendorLabel name={vendor} />
      </Fact>
    </dl>
  )
}

/** What the customer and other objects are called, by their ids. */
function titlesIn({ object, named, titles }: Detail): ReadonlyMap<string, string> {
  const payer = object.customer === null ? undefined : payerIn(named, object)
  return new Map([...(titles ?? []), ...(object.customer && payer ? [[object.customer, payer] as const] : [])])
}

/** The types of the events of a timeline, by their ids. */
const typesIn =
  ({ entries }: TimelinePage) =>
  (id: string) =>
    entries.find(({ event_id }) => event_id === id)?.event_type

type FieldsProps = { c: Visit; first: readonly string[]; of: Detail }

/** The other fields. @param props.first the fields that are already shown above */
function Fields({ c, first, of: { object, timeline, titles } }: FieldsProps) {
  const { id, source_event_id, status, vendor_status, ambiguous, incomplete, vendor, customer, ...rest } = object
  const { items, lines, metadata, discounts, refunds, disputes, ...others } = rest as typeof rest & Lists
  // The first two are other names of fields that are shown, and the last one is said with the items.
  const { due_date, hosted_invoice_url, items_missing, ...fields } = others
  return (
    <>
      <h2>Details</h2>
      <dl class="facts">
        <Fact name="ID">
          <Id>{id}</Id>
        </Fact>
        <Fact name="Source event">
          <a href={`${pathsOf(c).events}/${source_event_id}`}>
            {typesIn(timeline)(source_event_id) ?? source_event_id}
          </a>
        </Fact>
        {Object.entries(fields)
          .filter(([name]) => !first.includes(name))
          .map(([name, value]) => (
            <Value
              name={name}
              value={value}
              to={name === 'subscription' ? billingPath(c, 'subscriptions', { id: String(value), vendor }) : undefined}
              title={titles?.get(String(value))}
              now={c.get('rt').now}
              currency={currencyOf(object)}
            />
          ))}
      </dl>
    </>
  )
}

type Row = Record<string, unknown>
export type Lists = {
  items?: Row[]
  lines?: { data: Row[]; has_more: boolean } | null
  discounts?: Row[] | null
  due_date?: string | null
  hosted_invoice_url?: string | null
  refunds?: Returned['refunds']
  disputes?: Returned['disputes']
  items_missing?: boolean
}

/** The currency of an object's amounts; null if it has none. */
export function currencyOf(object: Presented): string | null {
  const { currency } = object as { currency?: unknown }
  return typeof currency === 'string' ? currency : null
}

/** The discounts of an object, each with the fields that have a value. */
export function Discounts(props: { of: Row[] | null | undefined; now: number; currency: string | null }) {
  const { of, now, currency } = props
  if (!of || of.length === 0) return null
  return (
    <>
      <h2>Discounts</h2>
      {of.map((row) => (
        <dl class="facts">
          {Object.entries(row).map(([name, value]) => (
            <Value name={name} value={value} now={now} currency={(row.currency as string | null) ?? currency} />
          ))}
        </dl>
      ))}
    </>
  )
}

/** What the customer's own server stored with the object at the vendor. */
export function Metadata({ of }: { of: Presented['metadata'] }) {
  if (of === null || Object.keys(of).length === 0) return null
  return (
    <>
      <h2>Metadata</h2>
      <Copyable id="metadata" label="metadata">
        {JSON.stringify(of, null, 2)}
      </Copyable>
    </>
  )
}
