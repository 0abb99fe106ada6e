import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { recordChanges } from '../changes/record'
import type { StoredChange } from '../changes/schema'
import type { Db, Queries } from '../db/client'
import { jsonLists } from '../db/sql'
import { changedFields } from './change'
import { billingObjects } from './schema'
import { customerIn, type Held, type Projection, type StoredObjectKey } from './store'

const m = alias(billingObjects, 'm')

/** Which consumer a customer is, as an expression, given by the caller, because billing state knows no consumers. */
export type ConsumerExpression = (projectId: SQL, customer: { vendor: SQL; customer: SQL }) => SQL

type Row = Pick<Projection, 'candidates' | 'ambiguous' | 'past_due' | 'version'>

/**
 * What the feed says of a row that is to be written: null if it looks as it did. What is kept only to place the next event is
 * nothing that anybody sees.
 *
 * @param cause the id of the event or fetch that changed it last; undefined for the service itself
 */
export function toldOf(
  { kind, vendor_id, vendor }: StoredObjectKey,
  before: Row,
  after: Row,
  cause: string | undefined,
): StoredChange | null {
  if (seen(before) === seen(after)) return null
  // The API does not show a payment without a sale.
  if (kind === 'purchase' && bodyOf(before) === null && bodyOf(after) === null) return null
  const type = kind === 'payment_card' ? 'payment_method' : kind
  const customer = kind === 'customer' ? vendor_id : customerIn(after.candidates)
  const was = customerIn(before.candidates)
  return {
    type: `${type}.changed`,
    id: vendor_id,
    vendor,
    // The card of a payment method is a row of its own, so its revision says nothing about the payment method's.
    ...(kind !== 'payment_card' && { revision: after.version + 1 }),
    fields: kind === 'payment_card' ? OF_CARDS : changedFields(kind, bodyOf(before), bodyOf(after)),
    ...(customer !== null && { customer }),
    ...(kind !== 'customer' && was !== null && was !== customer && { former: { customer: was } }),
    ...(cause !== undefined && { cause }),
  }
}

/** What the card of a payment method decides of it. */
const OF_CARDS = ['card', 'last4', 'billing_details']

const bodyOf = ({ candidates: [winner] }: Row) => winner?.body ?? null

function seen({ candidates: [winner], ambiguous, past_due }: Row): string {
  return JSON.stringify([winner?.body, winner?.event_id, winner?.incomplete, ambiguous, past_due])
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
  const rows = projections.flatMap(({ key, by, change }) =>
    change === null
      ? []
      : [{ project_id: key.project_id, by, vendor: key.vendor, card: key.kind === 'payment_card', item: change }],
  )
  const project = sql`o.value->>'project_id'`
  const vendor = sql`o.value->>'vendor'`
  const isCard = sql`o.value->>'card'`
  // A card is in a row of its own, which does not say whose it is. Nobody sees it before its payment method is known.
  const method = (field: SQL) => sql`(SELECT ${field} FROM ${billingObjects} ${m} WHERE ${m.project_id} = ${project}
    AND ${m.kind} = 'payment_method' AND ${m.vendor_id} = o.value->>'$.item.id' AND ${m.vendor} = ${vendor})`
  const customer = sql`CASE WHEN ${isCard} THEN ${method(sql`${m.customer}`)} ELSE o.value->>'$.item.customer' END`
  const former = sql`o.value->>'$.item.former.customer'`
  // A patch leaves out what is null.
  const item = sql`json_patch(o.value->'item', json_object('customer', ${customer},
    'consumer_id', ${consumerOf(project, { vendor, customer })}, 'former',
    CASE WHEN ${former} IS NOT NULL THEN json_object('consumer_id', ${consumerOf(project, { vendor, customer: former })}) END))`
  return jsonLists(rows).map(
    (list) => sql`SELECT ${project} AS project_id, o.key AS place, ${item} AS item FROM json_each(${list}) o
      WHERE ${held(project, sql`o.value->'by'`)} AND (NOT ${isCard} OR ${method(sql`1`)} IS NOT NULL)`,
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
