import type { Presented } from '../../../billing/read/present'
import type { PurchaseGives } from '../../../entitlements/given'
import type { Named } from '../../../entitlements/named'
import { pathsOf, type Visit } from '../../page'
import { show } from '../../ui/layout'
import { Copyable, Fact, Head } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { planIn } from './columns'
import { GivesNothing, givesColumn } from './gives'
import { MoneyBack, type Returned } from './money-back'
import type { ListPath } from './object-list'
import { BillingStanding, Doubt } from './standing'
import { Timeline, type TimelinePage } from './timeline'
import { BillingParts, Value } from './value'

/** `gives`: what a purchase gives; null if its consumer has too many of them. */
export type Detail = {
  object: Presented
  named: Named | undefined
  isOverdue: boolean
  timeline: TimelinePage
  gives?: PurchaseGives | null
}

/** A billing object: its fields, its parts and its timeline. @param list the list that it belongs to */
export function objectDetail(
  c: Visit,
  list: { title: string; path: ListPath },
  { object, named, isOverdue, timeline, gives }: Detail,
) {
  const { billing, events } = pathsOf(c)
  const { id, source_event_id, status, vendor_status, ambiguous, incomplete, vendor, customer, ...rest } = object
  const { items, lines, metadata, discounts, refunds = [], disputes = [], ...others } = rest as typeof rest & Lists
  // The first two are other names of fields that are shown, and the last one is said with the items.
  const { due_date, hosted_invoice_url, items_missing, ...fields } = others
  const around = { now: c.get('rt').now, currency: currencyOf(object) }
  const parts = items ?? lines?.data ?? []
  const planOf = (part: Row) => {
    const plan = planIn(named, part)
    return plan && <a href={`${pathsOf(c).plans}/${plan.id}`}>{plan.name}</a>
  }
  return show(
    c,
    { title: id, section: list.path, above: [list.title, `${billing}/${list.path}`] },
    <>
      <Head
        title={
          <>
            {id} <BillingStanding of={object} />
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
      <dl class="facts">
        <Fact name="Vendor">{vendorTitle(vendor)}</Fact>
        {customer !== null && (
          <Fact name="Customer">
            <a href={`${billing}/customers/${vendor}/${encodeURIComponent(customer)}`}>{customer}</a>
          </Fact>
        )}
        {customer === null && gives?.customer && (
          <Fact name="Customer">
            <a href={`${billing}/customers/${vendor}/${encodeURIComponent(gives.customer)}`}>Guest</a>
          </Fact>
        )}
        {named?.consumer && (
          <Fact name="Consumer">
            <a href={`${pathsOf(c).consumers}/${named.consumer.id}`}>{named.consumer.title}</a>
          </Fact>
        )}
        <Fact name="Source event">
          <a href={`${events}/${source_event_id}`}>{source_event_id}</a>
        </Fact>
        {Object.entries(fields).map(([name, value]) => (
          <Value name={name} value={value} {...around} />
        ))}
      </dl>
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
      <MoneyBack c={c} object={object} refunds={refunds} disputes={disputes} />
      <Discounts of={discounts} {...around} />
      <Metadata of={metadata} />
      <Timeline c={c} page={timeline} currency={around.currency} />
    </>,
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
