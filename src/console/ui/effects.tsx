import type { Effect } from '../../billing/effect'
import { projectPaths } from '../paths'
import { Badge } from './badge'
import { amountIn, asWords, cut, labelOf, modeWord, stopAfter, words } from './format'
import { NamedId } from './id'
import { listChanges } from './list-changes'

/** Characters that are shown of a value, and of what changed in a list. */
const SHOWN = 80
const LIST_SHOWN = 200

const RESULTS: Record<Effect['result'], string> = {
  applied: 'This event set the state of the object.',
  superseded: 'A later event had already set the state, so this one changed nothing.',
  ambiguous: 'Other events with the same timestamp report a different state, and nothing shows which one is right.',
  fetched: 'This event contains only the ID of the object. We fetched the object from the vendor.',
  gone: 'This event contains only the ID of the object, and the vendor no longer has the object.',
  unplaced:
    'This event is about a payment. It has no effect unless another event shows that the payment was a one-time purchase. If the payment was for an invoice, the invoice shows refunds and disputes.',
}
/** A state is never without a status, so an object that had none was not known. */
const isFirst = (change: Effect['change']) => change?.status?.from === null
const FIRST = 'No earlier state of this object was stored.'
const SAME = 'No field changed.'
/** The pages of objects, by kind. Of a card there is none: after a one-off payment there is often no payment method. */
const PARTS: Partial<Record<Effect['kind'], string>> = {
  subscription: 'subscriptions',
  invoice: 'invoices',
  payment_method: 'payment-methods',
  purchase: 'purchases',
}

type EffectsProps = {
  of: readonly Effect[]
  project: string
  vendor: string
  /** The currency of the event, for the amounts of objects whose currency did not change. */
  currency?: string | null | undefined
  /** What objects are called, by their ids, if that is known. */
  titles?: ReadonlyMap<string, string> | undefined
  /** The consumer that the customer of the event is linked to now, if that is known. Null: to none. */
  linked?: { customer: string; to: Owner | null } | undefined
}
type Owner = { id: string; title: string }

/** The changes that an event made, or would make, to the billing state: each object with a link and what changed. */
export function Effects({ of, project, vendor, currency, titles, linked }: EffectsProps) {
  if (of.length === 0) return <p class="quiet">None.</p>
  const { billing, events, consumers } = projectPaths(project)
  const pageOf = (kind: Effect['kind'], id: string) => {
    if (kind === 'customer' || kind === 'customer_link')
      return `${billing}/customers/${vendor}/${encodeURIComponent(id)}`
    return PARTS[kind] && `${billing}/${PARTS[kind]}/${encodeURIComponent(id)}?vendor=${vendor}`
  }
  const ownerOf = (customer: string) => (linked?.customer === customer ? linked.to : undefined)
  return (
    <ul class="effects" aria-label="Effects">
      {of.map(({ kind, id, result, change, incomplete, event_id }) => (
        <li>
          <span class="spread">
            <span>
              {result === 'unplaced' ? 'Payment' : asWords(kind)}{' '}
              <NamedId id={id} title={titles?.get(id)} to={result === 'unplaced' ? undefined : pageOf(kind, id)} />
            </span>
            <span>
              <Badge of={kind === 'customer_link' && ownerOf(id) === null ? 'not linked' : result} />{' '}
              {incomplete && <Badge of="cut off" />}
            </span>
          </span>
          <p class="quiet">
            {kind === 'customer_link' ? <LinkedTo owner={ownerOf(id)} consumers={consumers} /> : RESULTS[result]}
          </p>
          {event_id && (
            <p class="quiet">
              Fetched object: <a href={`${events}/${event_id}`}>{event_id}</a>
            </p>
          )}
          {incomplete && <p class="quiet">A list in this object was cut off. The vendor has the full list.</p>}
          {isFirst(change) && <p class="quiet">{FIRST}</p>}
          {result === 'applied' && change === null && kind !== 'customer_link' && <p class="quiet">{SAME}</p>}
          {change && <Changes of={change} currency={currency} titles={titles} />}
        </li>
      ))}
    </ul>
  )
}

/** Which consumer it is now: a later event, or a person, may have decided otherwise. */
function LinkedTo({ owner, consumers }: { owner: Owner | null | undefined; consumers: string }) {
  const says = 'This event names a consumer for the customer'
  if (owner === undefined) return <>{says}.</>
  if (owner === null)
    return (
      <>
        {says}. The customer is not linked: no consumer has that external ID, or a later event or a person changed the
        link.
      </>
    )
  return (
    <>
      {says}. The customer is linked to <a href={`${consumers}/${owner.id}`}>{owner.title}</a>
      {stopAfter(owner.title)}
    </>
  )
}

type ChangesProps = {
  of: Effect['change'] | undefined
  /** Of the object's amounts, unless it changed too. */
  currency?: string | null | undefined
  /** What customers and objects are called, by their ids, if that is known. */
  titles?: ReadonlyMap<string, string> | undefined
}

/** Changed fields with their old and new values. */
export function Changes({ of, currency, titles }: ChangesProps) {
  const shown = Object.entries(of ?? {}).filter(([field]) => of && tells(field, of))
  if (!of || shown.length === 0) return <span class="quiet">None</span>
  const { currency: changed } = of
  const known = { from: changed?.from ?? currency, to: changed?.to ?? currency }
  const isNew = isFirst(of)
  return (
    <ul class="changes">
      {shown.map(([field, change]) => (
        <li>
          <span class="quiet">{labelOf(field)}:</span>{' '}
          {isNew && change.personal ? 'set' : (renamed(change, titles) ?? said(field, change, known, of))}
        </li>
      ))}
    </ul>
  )
}

type Change = NonNullable<Effect['change']>[string]

/** The change of a field whose value is the id of something with a title. Null of any other field. */
function renamed({ from, to }: Change, titles: ReadonlyMap<string, string> | undefined) {
  const called = (id: unknown) => typeof id === 'string' && titles?.has(id)
  if (typeof to !== 'string' || !(called(from) || called(to))) return null
  return (
    <>
      {typeof from === 'string' && (
        <>
          <NamedId id={from} title={titles?.get(from)} /> →{' '}
        </>
      )}
      <NamedId id={to} title={titles?.get(to)} />
    </>
  )
}

/** Whether a field says more than the others: not when the object changed, a status twice, a list that is still empty, the period of items as that of their subscription, or that items were never missing. */
function tells(field: string, of: Record<string, Change>): boolean {
  const { from, to, personal, too_large } = of[field] as Change
  if (field === 'updated_at' || (field === 'items_missing' && !from && !to)) return false
  if (field === 'vendor_status') return from !== of.status?.from || to !== of.status?.to
  if (listChanges(from, to, null) !== null && listChanges(from, to, null, of) === null) return false
  return personal || too_large || !isEmptyList(to) || !(from === null || isEmptyList(from))
}

const isEmptyList = (value: unknown) => JSON.stringify(value) === '{"data":[],"has_more":false}'

/**
 * A changed field with its label: `Status: Active → Canceled`. Null if it did not change, or says nothing.
 *
 * @param currency of the object's amounts, unless it changed too
 */
export function effectSaid(field: string, of: NonNullable<Effect['change']>, currency: unknown): string | null {
  const change = of[field]
  if (!change || change.personal || change.too_large || !tells(field, of)) return null
  const known = { from: of.currency?.from ?? currency, to: of.currency?.to ?? currency }
  return `${labelOf(field)}: ${said(field, change, known, of)}`
}

type Currency = { from: unknown; to: unknown }

function said(
  field: string,
  { from, to, too_large, personal }: Change,
  currency: Currency,
  of: Record<string, Change>,
) {
  if (personal) return 'changed: see the object for its value'
  if (too_large) return 'changed: too large to show here'
  const text = (value: unknown, of: unknown) => {
    if (typeof value === 'boolean') return field === 'livemode' ? modeWord(value) : value ? 'Yes' : 'No'
    if (field === 'status' && typeof value === 'string') return asWords(value)
    return amountIn(field, value, typeof of === 'string' ? of : null) ?? cut(words(value), SHOWN)
  }
  const inLists = listChanges(from, to, typeof currency.to === 'string' ? currency.to : null, of)
  if (inLists !== null) return cut(inLists, LIST_SHOWN)
  const after = text(to, currency.to)
  // A field that had no value was set, not changed.
  return from === null || from === undefined ? after : `${text(from, currency.from)} → ${after}`
}
