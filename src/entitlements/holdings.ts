import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { ObjectKey } from '../billing/read/store'
import { billingObjects } from '../billing/schema'
import type { Again } from '../catalog/lasting'
import { planRefs } from '../catalog/schema'
import { customerLinks } from '../consumers/customers/schema'
import { consumerIds } from '../consumers/schema'
import { type Db, raw } from '../db/client'
import { json } from '../db/sql'
import type { Json } from '../vendors/lib/json'
import type { Item } from './facts'
import { MAX_SOURCES, MAX_SUBSCRIPTION_ITEMS } from './limits'
import { newestPaid, type PaidInvoice, paidInvoices } from './reversal'

const x = alias(consumerIds, 'x')
const l = alias(customerLinks, 'l')
const b = alias(billingObjects, 'b')
/** What of {@link b} a call reads. */
const o = alias(billingObjects, 'o')
const r = alias(planRefs, 'r')

/**
 * The consumers that are asked about, as `a`: each with its place in the list as `a.key`, and the id of the consumer.
 *
 * @param list a JSON list of {@link ConsumerRef}
 */
export function askedIn(projectId: string, list: SQL) {
  const byName = sql`(SELECT ${x.consumer_id} FROM ${consumerIds} ${x}
    WHERE ${x.project_id} = ${projectId} AND ${x.external_id} = a.value->>'external_id')`
  return { place: sql<number>`a.key`, from: sql`json_each(${list}) a`, id: sql`coalesce(a.value->>'id', ${byName})` }
}

/** A field of the state that speaks for the object. */
const field = (name: string) => sql`${b.candidates}->>${sql.raw(`'$[0].body.${name}'`)} AS ${sql.raw(name)}`

/** What something of an item is mapped to: the plan, and how long a one-time payment of it lasts. */
function mappingOfPart(projectId: string, part: 'price' | 'variant' | 'product'): SQL {
  return sql`(SELECT json_array(${r.plan_id}, ${r.lasts}, ${r.again}) FROM ${planRefs} ${r} WHERE ${r.project_id} = ${projectId} AND ${r.vendor} = ${o.vendor}
    AND ${r.ref} = i.value->>${sql.raw(`'${part}'`)})`
}

/** The kinds of objects that plans come from. */
const KINDS_HELD = ['subscription', 'purchase'] as const
export type HeldKind = (typeof KINDS_HELD)[number]

/**
 * The subscriptions and purchases of consumers: asked → external ids → links → objects, each by its index. Two links can name one
 * customer of two vendors, so the vendor is compared too.
 *
 * @param how.all also purchases of a project where no one-time payment gives anything
 * @param how.named whether the vendor's ids of each item's price and product are read
 * @param how.kinds by default both
 * @param how.at the time that is asked about, if it is not now (ISO 8601 UTC)
 */
export function holdingsOf(
  db: Db,
  projectId: string,
  list: SQL,
  {
    all,
    named = true,
    kinds = KINDS_HELD,
    at = null,
    reversed = false,
  }: { all: boolean; named?: boolean; kinds?: readonly HeldKind[]; at?: string | null; reversed?: boolean },
) {
  const { from, id } = askedIn(projectId, list)
  const lasting = sql`EXISTS (SELECT 1 FROM ${planRefs} ${r} INDEXED BY plan_refs_lasting WHERE ${r.project_id} = ${projectId} AND ${r.lasts} IS NOT NULL)`
  const each = kinds.map((kind) => sql`SELECT ${kind} AS kind WHERE ${all || kind !== 'purchase' ? sql`1` : lasting}`)
  return itemsOf(db, projectId, {
    named,
    before: sql`WITH kinds AS MATERIALIZED (${sql.join(each, sql` UNION ALL `)}),
      c AS MATERIALIZED (SELECT a.key AS place, ${id} AS id FROM ${from}),
      own AS MATERIALIZED (
        SELECT c.place, ${l.customer} AS customer, ${l.vendor} AS vendor FROM c
          CROSS JOIN ${consumerIds} ${x} INDEXED BY consumer_ids_consumer
            ON ${x.project_id} = ${projectId} AND ${x.consumer_id} = c.id
          CROSS JOIN ${customerLinks} ${l} INDEXED BY customer_links_ref
            ON ${l.project_id} = ${projectId} AND ${l.ref} IS NOT NULL AND ${l.ref} = ${x.external_id}
        UNION ALL
        SELECT c.place, ${l.customer}, ${l.vendor} FROM c
          CROSS JOIN ${customerLinks} ${l} INDEXED BY customer_links_pinned
            ON ${l.project_id} = ${projectId} AND ${l.pinned} IS NOT NULL AND ${l.pinned} = c.id),
      ${paidInvoices(projectId, { at, reversed })}`,
    invoice: newestPaid(projectId, b),
    place: sql`own.place`,
    objects: sql`own CROSS JOIN kinds CROSS JOIN ${billingObjects} ${b} INDEXED BY billing_customer
      ON ${b.project_id} = ${projectId} AND ${b.kind} = kinds.kind AND ${b.customer} IS NOT NULL
        AND ${b.customer} = own.customer AND ${b.vendor} = own.vendor
      LIMIT ${MAX_SOURCES + 1}`,
  })
}

/** As {@link holdingsOf}, for one object of any consumer or of none. */
export function holdingNamed(db: Db, projectId: string, { kind, id, vendor }: ObjectKey & { kind: HeldKind }) {
  return itemsOf(db, projectId, {
    named: true,
    place: sql`0`,
    objects: sql`${billingObjects} ${b} WHERE ${b.project_id} = ${projectId} AND ${b.kind} = ${kind} AND ${b.vendor_id} = ${id}
      AND ${vendor === undefined ? sql`1` : sql`${b.vendor} = ${vendor}`} ORDER BY ${b.vendor} LIMIT 1`,
  })
}

/** What of a subscription or a purchase is read as it is. */
const OWN = [b.kind, b.vendor, b.vendor_id, b.customer, b.status, b.ambiguous, b.past_due_period, b.past_due_since]
/** What the state says that speaks for it. */
const SAID = [
  'livemode',
  'current_period_start',
  'current_period_end',
  'cancel_at',
  'cancel_at_period_end',
  'ended_at',
  'updated_at',
  'paid_at',
]

type ItemsAsked = { named: boolean; before?: SQL; place: SQL; objects: SQL; invoice?: SQL }

/**
 * A row for each item of subscriptions and purchases, so that a limit bounds what a call reads. Only the first item of an object has the
 * object's own fields, because these and an item's ids can take 2 KB.
 *
 * @param of.named whether the vendor's ids of each item's price and product are read
 * @param of.objects the objects, with their order and their limit, as {@link b}
 * @param of.invoice the newest paid invoice of a subscription, as JSON
 */
function itemsOf(db: Db, projectId: string, { named, before, place, objects, invoice = sql`NULL` }: ItemsAsked) {
  const mapped = sql`coalesce(${mappingOfPart(projectId, 'price')}, ${mappingOfPart(projectId, 'variant')}, ${mappingOfPart(projectId, 'product')})`
  const ids = sql`'price', i.value->>'price', 'variant', i.value->>'variant', 'product', i.value->>'product',`
  const item = sql`CASE WHEN i.key IS NOT NULL THEN json_object(${named ? ids : sql``} 'quantity', i.value->'quantity',
    'returned', i.value->'quantity_returned', 'mapped', json(${mapped})) END`
  const leads = sql<number>`coalesce(i.key, 0) = 0`
  const first = <T>(name: string) => sql<T>`iif(${leads}, ${sql.raw(`o.${name}`)}, NULL)`
  const shown = {
    place: sql<number>`o.place`,
    kind: sql<HeldKind>`o.kind`,
    vendor: o.vendor,
    id: o.vendor_id,
    leads,
    customer: first<string | null>('customer'),
    status: first<string>('status'),
    ambiguous: first<boolean>('ambiguous').mapWith(o.ambiguous),
    past_due_period: first<string | null>('past_due_period'),
    past_due_since: first<string | null>('past_due_since'),
    event_id: first<string>('event_id'),
    livemode: first<number | null>('livemode'),
    period_start: first<string | null>('current_period_start'),
    period_end: first<string | null>('current_period_end'),
    cancel_at: first<string | null>('cancel_at'),
    cancel_at_period_end: first<number | null>('cancel_at_period_end'),
    ended_at: first<string | null>('ended_at'),
    updated_at: first<string | null>('updated_at'),
    paid_at: first<string | null>('paid_at'),
    refunds: json<Json[] | null>(first('refunds')),
    disputes: json<Json[] | null>(first('disputes')),
    invoice: json<PaidInvoice | null>(first('invoice')),
    item: json<ReadItem | null>(item),
  }
  return raw(
    db,
    shown,
    (fields) => sql`${before} SELECT ${fields} FROM (
        SELECT ${place} AS place, ${sql.join([...OWN, ...SAID.map(field)], sql`, `)}, ${b.candidates}->>'$[0].event_id' AS event_id,
            ${b.candidates}->'$[0].body.items' AS items, ${b.candidates}->'$[0].body.refunds' AS refunds,
            ${b.candidates}->'$[0].body.disputes' AS disputes, ${invoice} AS invoice
          FROM ${objects}) o
      LEFT JOIN json_each(o.items) i LIMIT ${MAX_SUBSCRIPTION_ITEMS + 1}`,
  )
}

/** An item as it is read. `returned`: how many of it came back. `mapped`: its plan, how long that lasts, and what a second payment does. */
type ReadItem = Partial<Pick<Item, 'price' | 'variant' | 'product'>> & {
  quantity: number | null
  returned: number | null
  mapped: [plan_id: string, lasts: string | null, again: Again | null] | null
}

/** A row of {@link itemsOf}. */
export type ItemRow = ReturnType<typeof itemsOf>['_']['result'][number]
