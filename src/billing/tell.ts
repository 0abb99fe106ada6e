import { type SQL, sql } from 'drizzle-orm'
import { recordChanges } from '../changes/record'
import type { StoredChange } from '../changes/schema'
import type { Db, Queries } from '../db/client'
import { jsonLists } from '../db/sql'
import { customerIn, type Held, type Projection, type StoredObjectKey } from './store'

/** Which consumer a customer is, as an expression, given by the caller, because billing state knows no consumers. */
export type ConsumerOf = (projectId: SQL, customer: { vendor: SQL; customer: SQL }) => SQL

type Row = Pick<Projection, 'candidates' | 'ambiguous' | 'past_due' | 'version'>

/**
 * What the feed says of a row that is to be written: null if it looks as it did. What is kept only to place the next event is
 * nothing that anybody sees.
 *
 * @param fields the names of the fields that changed
 * @param cause the id of the event or fetch that changed it last; undefined for the service itself
 */
export function changeOf(
  { kind, vendor_id, vendor }: StoredObjectKey,
  before: Row,
  after: Row,
  { fields, cause }: { fields: readonly string[]; cause: string | undefined },
): StoredChange | null {
  if (seen(before) === seen(after)) return null
  const type = kind === 'payment_card' ? 'payment_method' : kind
  const customer = kind === 'customer' ? vendor_id : customerIn(after.candidates)
  const was = customerIn(before.candidates)
  return {
    type: `${type}.changed`,
    id: vendor_id,
    vendor,
    // The card of a payment method is a row of its own, so its revision says nothing about the payment method's.
    ...(kind !== 'payment_card' && { revision: after.version + 1 }),
    fields: kind === 'payment_card' ? ['card'] : fields,
    ...(customer !== null && { customer }),
    ...(kind !== 'customer' && was !== null && was !== customer && { former: { customer: was } }),
    ...(cause !== undefined && { cause }),
  }
}

function seen({ candidates: [winner], ambiguous, past_due }: Row): string {
  return JSON.stringify([winner?.body, winner?.event_id, winner?.incomplete, ambiguous, past_due])
}

/**
 * The changes of objects for the feed, as queries for `recordChanges`.
 *
 * @param held as for `writeObjects`
 */
export function changesOfObjects(projections: readonly Projection[], held: Held, consumerOf: ConsumerOf): SQL[] {
  const rows = projections.flatMap(({ key, by, change }) =>
    change === null ? [] : [{ project_id: key.project_id, by, vendor: key.vendor, item: change }],
  )
  const project = sql`o.value->>'project_id'`
  const consumer = (path: string) =>
    consumerOf(project, { vendor: sql`o.value->>'vendor'`, customer: sql.raw(`o.value->>'$.item.${path}'`) })
  // A patch leaves out what is null.
  const item = sql`json_patch(o.value->'item', json_object('consumer_id', ${consumer('customer')}, 'former',
    CASE WHEN o.value->'$.item.former' IS NOT NULL THEN json_object('consumer_id', ${consumer('former.customer')}) END))`
  return jsonLists(rows).map(
    (list) => sql`SELECT ${project} AS project_id, o.key AS place, ${item} AS item FROM json_each(${list}) o
      WHERE ${held(project, sql`o.value->'by'`)}`,
  )
}

/** Statements that tell the feed of these objects alone. */
export function tellOfObjects(db: Db, projections: readonly Projection[], held: Held, consumerOf: ConsumerOf): Queries {
  const lists = changesOfObjects(projections, held, consumerOf)
  return Object.fromEntries(lists.map((list, i) => [`told${i}`, recordChanges(db, list)]))
}
