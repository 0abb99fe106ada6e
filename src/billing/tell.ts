import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { recordChanges } from '../changes/record'
import type { StoredChange } from '../changes/schema'
import type { Db, Queries } from '../db/client'
import { jsonLists } from '../db/sql'
import type { Kind, ShownKind } from '../lib/billing-kinds'
import { MONEY_BACK, MONEY_ON_INVOICES } from '../vendors/purchase'
import { changedFields } from './change'
import { moneyOf } from './purchases/money'
import { billingObjects } from './schema'
import { customerIn, type Held, type Projection, type StoredObjectKey } from './store'

const m = alias(billingObjects, 'm')

/** Which consumer a customer is, as an expression, given by the caller, because billing state knows no consumers. */
export type ConsumerExpression = (projectId: SQL, customer: { vendor: SQL; customer: SQL }) => SQL

type Row = Pick<Projection, 'candidates' | 'ambiguous' | 'past_due' | 'version'>

/**
 * What the feed says of a row that is to be written: nothing if it looks as it did. What is kept only to place the next event is nothing
 * that anybody sees.
 *
 * @param cause the id of the event or fetch that changed it last; undefined for the service itself
 */
export function toldOf(key: StoredObjectKey, before: Row, after: Row, cause: string | undefined): StoredChange[] {
  if (seen(before) === seen(after)) return []
  const { kind, vendor_id: id, vendor } = key
  const by = { id, vendor, ...(cause !== undefined && { cause }) }
  // A row that another object shows is not that object, so its revision says nothing about it.
  if (kind === 'payment_card') return [{ ...by, type: 'payment_method.changed', fields: OF_CARDS }]
  const money = kind === 'purchase' && MONEY_ON_INVOICES.includes(vendor) ? moneyFields(before, after) : []
  return [
    ...ownChange(key, before, after).map((change) => ({ ...change, ...by })),
    ...(money.length > 0 ? [{ ...by, type: 'invoice.changed', fields: money }] : []),
  ]
}

/** What it says of a row of its own. The API does not show a payment without a sale. */
function ownChange({ kind, vendor_id }: StoredObjectKey, before: Row, after: Row) {
  if (kind === 'purchase' && bodyOf(before) === null && bodyOf(after) === null) return []
  const customer = kind === 'customer' ? vendor_id : customerIn(after.candidates)
  const was = customerIn(before.candidates)
  const fields = changedFields(kind, bodyOf(before), bodyOf(after))
  const change = {
    type: `${kind}.changed`,
    revision: after.version + 1,
    // A new invoice shows that no money came back.
    fields: kind === 'invoice' && bodyOf(before) === null ? [...fields, ...MONEY_BACK] : fields,
    ...(customer !== null && { customer }),
    ...(kind !== 'customer' && was !== null && was !== customer && { former: { customer: was } }),
  }
  return [change]
}

/** The fields of the invoice with the same id that look different. */
function moneyFields(before: Row, after: Row): string[] {
  return changedFields('purchase', moneySeen(before), moneySeen(after)).filter((field) =>
    (MONEY_BACK as readonly string[]).includes(field),
  )
}

/** A purchase, or the money alone that came back of a payment without a sale. */
const moneySeen = (row: Row) => bodyOf(row) ?? moneyOf(row)

/** Rows that are shown in another object: a card in its payment method, and money that came back in its invoice. */
const SHOWN_IN: Partial<Record<Kind, ShownKind>> = { payment_card: 'payment_method', purchase: 'invoice' }

/** What the card of a payment method decides of it. */
const OF_CARDS = ['card', 'last4', 'billing_details']

const bodyOf = ({ candidates: [winner] }: Row) => winner?.body ?? null

function seen({ candidates: [winner], ambiguous, past_due }: Row): string {
  return JSON.stringify([winner?.body, winner?.money, winner?.event_id, winner?.incomplete, ambiguous, past_due])
}

/**
 * The changes of objects for the feed, as queries for `recordChanges`.
 *
 * @param held as for `writeObjects`
 */
export function changesOfObjects(
  projections: readonly Projection[],
  held: Held,
  consumerOf: ConsumerExpression,
): SQL[] {
  const rows = projections.flatMap(({ key, by, changes }) =>
    changes.map((item) => ({
      ...{ project_id: key.project_id, by, vendor: key.vendor, item },
      shown_in: item.type === `${SHOWN_IN[key.kind]}.changed` ? SHOWN_IN[key.kind] : null,
    })),
  )
  const project = sql`o.value->>'project_id'`
  const vendor = sql`o.value->>'vendor'`
  const shownIn = sql`o.value->>'shown_in'`
  // The row does not say whose that object is. Nobody sees it before that object is known.
  const object = (field: SQL) => sql`(SELECT ${field} FROM ${billingObjects} ${m} WHERE ${m.project_id} = ${project}
    AND ${m.kind} = ${shownIn} AND ${m.vendor_id} = o.value->>'$.item.id' AND ${m.vendor} = ${vendor})`
  const customer = sql`CASE WHEN ${shownIn} IS NOT NULL THEN ${object(sql`${m.customer}`)} ELSE o.value->>'$.item.customer' END`
  const former = sql`o.value->>'$.item.former.customer'`
  // A patch leaves out what is null.
  const item = sql`json_patch(o.value->'item', json_object('customer', ${customer},
    'consumer_id', ${consumerOf(project, { vendor, customer })}, 'former',
    CASE WHEN ${former} IS NOT NULL THEN json_object('consumer_id', ${consumerOf(project, { vendor, customer: former })}) END))`
  return jsonLists(rows).map(
    (list) => sql`SELECT ${project} AS project_id, o.key AS place, ${item} AS item FROM json_each(${list}) o
      WHERE ${held(project, sql`o.value->'by'`)} AND (${shownIn} IS NULL OR ${object(sql`1`)} IS NOT NULL)`,
  )
}

/** Statements that tell the feed of these objects alone. */
export function tellOfObjects(
  db: Db,
  projections: readonly Projection[],
  held: Held,
  consumerOf: ConsumerExpression,
): Queries {
  const lists = changesOfObjects(projections, held, consumerOf)
  return Object.fromEntries(lists.map((list, i) => [`told${i}`, recordChanges(db, list)]))
}
