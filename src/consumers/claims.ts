import { type Column, type SQL, sql } from 'drizzle-orm'
import type { Effect } from '../billing/effect'
import { nanoseconds } from '../billing/reduce'
import type { Db, Query } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { bare, excluded } from '../db/sql'
import type { LinkSettings } from '../tenancy/settings'
import type { CustomerClaim } from '../vendors/claim'
import type { Json } from '../vendors/lib/json'
import { isId } from '../vendors/lib/read'
import { EVENT_STEPS, type EventStep } from '../vendors/snapshot'
import type { DecodedEvent, Vendor } from '../vendors/vendor'
import { customerLinks, ERASED_PINS } from './customers/schema'
import { EXTERNAL_ID } from './ref'

/**
 * The claim in an event, as a list: the first one that can be true. Others, such as one with a text that cannot be an
 * external id, are skipped.
 */
export function claimsIn(vendor: Vendor, event: Json, { consumer_keys, link_hints }: LinkSettings): CustomerClaim[] {
  const found = vendor.claims?.(event, consumer_keys) ?? []
  return found
    .filter(
      ({ customer, external_id, by }) =>
        isId(customer) && EXTERNAL_ID.test(external_id) && (link_hints || by === 'customer'),
    )
    .slice(0, 1)
}

/** The claim that a customer's id is the external id of its consumer, as a list: none if it cannot be one. */
export function sameIdIn({ customer }: Pick<DecodedEvent, 'customer'>): CustomerClaim[] {
  return isId(customer) && EXTERNAL_ID.test(customer) ? [{ customer, external_id: customer, by: 'customer' }] : []
}

/** The event of a claim. `step`: null if it describes no billing object. */
type Source = {
  vendor: string
  vendor_event_id: string
  occurred_at: string | null
  step: EventStep | null
  event_id: string
}

/**
 * A claim as it is recorded: see `recordClaims`. Its rank sorts the claims of a customer: by the vendor's time, an event
 * without one first; then by the step, as billing objects do; then by the vendor's id of the event. It ends with our id of the
 * event.
 */
export function claimed(
  { customer, external_id, by, made }: CustomerClaim,
  { vendor, vendor_event_id, occurred_at, step, event_id }: Source,
) {
  const [time, place, id] = made
    ? [made.at, EVENT_STEPS.created, made.id]
    : [occurred_at, step ?? EVENT_STEPS.updated, vendor_event_id]
  const rank = [nanoseconds(time), place, id, event_id].join(' ')
  return {
    vendor,
    customer,
    ...(by === 'customer' ? { said: external_id, said_rank: rank } : { hint: external_id, hint_rank: rank }),
  }
}

/** What an event with a claim did, as it is recorded with the event. It does not say which consumer: that is about a person. */
export function effectOf({ customer }: CustomerClaim): Effect {
  return { kind: 'customer_link', id: customer, result: 'applied', change: null }
}

const { project_id, customer, vendor, said, said_rank, hint, hint_rank, pinned } = customerLinks

/**
 * Records claims of events. The newest claim of the customer itself is kept, and the earliest of a checkout: these are
 * functions of the set of claims, so neither order nor repetition matters. An older claim of the customer, a later one of a
 * checkout, and any claim of an erased customer write no row.
 *
 * @param projectId an expression of the project's id
 * @param from yields a row for each claim
 * @param claim an expression of the claim as JSON: see `claimed`
 */
export function recordClaims(db: Db, projectId: SQL | Column, from: SQL, claim: SQL) {
  const field = (column: Column) => sql`${claim}->>${sql.raw(`'${column.name}'`)}`
  return { repeated: moveRanks(db, projectId, from, field), links: upsert(db, projectId, from, field) }
}

type Field = (column: Column) => SQL

/**
 * A newer event of the customer itself that says the same again: the rank moves, because an older event that arrives later
 * with another value must lose. It is a statement of its own because it leaves the indexes alone: SQLite writes the index of
 * every column that is set, even if the value stays the same.
 */
function moveRanks(db: Db, projectId: SQL | Column, from: SQL, field: Field) {
  const key = sql`${projectId} AS project_id, ${field(customer)} AS customer, ${field(vendor)} AS vendor`
  const repeated = sql`(SELECT ${key}, ${field(said)} AS said, max(${field(said_rank)}) AS said_rank ${from}
    GROUP BY 1, 2, 3, 4) r`
  const isOf = sql`${project_id} = r.project_id AND ${customer} = r.customer AND ${vendor} = r.vendor`
  return db
    .update(customerLinks)
    .set({ said_rank: sql`r.said_rank` })
    .from(repeated)
    .where(sql`${isOf} AND ${said} = r.said AND r.said_rank > ${said_rank}`)
}

function upsert(db: Db, projectId: SQL | Column, from: SQL, field: Field): Query<void> {
  const newer = sql`${excluded(said_rank)} > coalesce(${said_rank}, '')`
  const earlier = sql`(${excluded(hint_rank)} < ${hint_rank} OR ${excluded(hint_rank)} IS NOT NULL AND ${hint_rank} IS NULL)`
  const kept = (column: Column, wins: SQL) =>
    sql`${bare(column)} = CASE WHEN ${wins} THEN ${excluded(column)} ELSE ${column} END`
  return insertFrom(
    db,
    customerLinks,
    {
      project_id: projectId,
      customer: field(customer),
      vendor: field(vendor),
      said: field(said),
      said_rank: field(said_rank),
      hint: field(hint),
      hint_rank: field(hint_rank),
    },
    sql`${from} WHERE true ON CONFLICT (${bare(project_id, customer, vendor)}) DO UPDATE SET
      ${kept(said, newer)}, ${kept(said_rank, newer)}, ${kept(hint, earlier)}, ${kept(hint_rank, earlier)}
      WHERE (${newer} OR ${earlier}) AND (${pinned} IS NULL OR ${pinned} NOT GLOB ${ERASED_PINS})`,
  )
}
