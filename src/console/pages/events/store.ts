import { and, eq, inArray } from 'drizzle-orm'
import { apiKeys } from '../../../api-keys/schema'
import { readNamedAnd } from '../../../audit-log/objects'
import { namesOfCustomers } from '../../../billing/customers/names'
import { findTrace } from '../../../billing/customers/read'
import type { Effect } from '../../../billing/effect'
import { invoicesIn, withInvoices } from '../../../billing/purchases/on-invoice'
import { findObjects } from '../../../billing/read/store'
import { batch, type Db, type Results, run } from '../../../db/client'
import { valuesOf } from '../../../db/sql'
import { findOwner, type Named, plansIn } from '../../../entitlements/named'
import type { Runtime } from '../../../env'
import { countByStatus } from '../../../inbox/events/counts'
import type { EventRow } from '../../../inbox/events/events'
import { MAX_OPEN_COUNTED } from '../../../inbox/events/limits'
import { isFinal, type ShownStatus } from '../../../inbox/lifecycle'
import { MAX_VENDOR_ID_LENGTH } from '../../../inbox/search/limits'
import { lookUp } from '../../../inbox/search/look-up'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { idPattern } from '../../../lib/ids'
import { readAddresses } from '../../../tenancy/people'
import { vendorOf } from '../../../vendors'
import { objectPath } from '../../object-paths'
import { projectPaths } from '../../paths'
import { hasPage, titlesOf } from '../billing/title'
import { calledIn } from '../customers/read'
import type { ListedEvent } from './row'

/** The names of API keys, revoked ones too, and the addresses of users, by id. */
export async function namesOf(rt: Runtime, project: string, ids: readonly string[]): Promise<Map<string, string>> {
  const ofKeys = ids.filter((id) => id.startsWith('key_'))
  const [keys, people] = await Promise.all([
    ofKeys.length > 0 ? run(rt.db, keyNames(rt.db, project, ofKeys)) : [],
    readAddresses(rt, ids),
  ])
  return new Map([...people, ...keys.map(({ id, name }) => [id, name] as const)])
}

function keyNames(db: Db, projectId: string, ids: readonly string[]) {
  return db
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(and(eq(apiKeys.project_id, projectId), inArray(apiKeys.id, valuesOf(ids))))
}

/**
 * Names the consumers of events, and the customers that are linked to none: it reads one row for each consumer and each customer, and another
 * for a consumer without a name and an email address.
 */
export async function withConsumers(rt: Runtime, project: string, rows: readonly EventRow[]): Promise<ListedEvent[]> {
  const ids = rows.flatMap(({ consumer_id }) => consumer_id ?? [])
  const payers = rows.flatMap(({ consumer_id, summary }) => (consumer_id ? [] : (summary?.customer ?? [])))
  const more = payers.length > 0 ? { names: namesOfCustomers(rt.db, project, payers) } : {}
  const { objects, found } = await readNamedAnd(rt, project, ids, more)
  const calledOf = calledIn(found.names ?? [])
  const nameOf = (id: string) => objects.get(id)?.name ?? id
  return rows.map((row) => ({
    ...row,
    consumer: row.consumer_id && nameOf(row.consumer_id),
    unlinked: row.consumer_id ? undefined : calledOf({ vendor: row.vendor, id: row.summary?.customer ?? '' }),
  }))
}

/** How many events have each status, as text: `1,204`, or `900+` for open events where there are too many to count. */
export type Counts = (status: ShownStatus) => string

/** Reads the counts, in one round trip. */
export async function readCounts(db: Db, project: string): Promise<Counts> {
  const { finals, open, held } = await batch(db, countByStatus(db, project))
  const counts = new Map<ShownStatus, number>([...finals, ...open].map(({ status, n }) => [status, n]))
  const opened = open.reduce((sum, { n }) => sum + n, 0)
  const onHold = held[0]?.n ?? 0
  const more = (counted: number) => (counted >= MAX_OPEN_COUNTED ? '+' : '')
  return (status) => {
    if (status === 'held') return onHold.toLocaleString('en') + more(onHold)
    return (counts.get(status) ?? 0).toLocaleString('en') + (isFinal(status) ? '' : more(opened))
  }
}

/** What a text in the search box stands for: one event, or a filter. */
export type NamedEvents = { event: string } | { filter: string; value: string }

/**
 * Finds out what a text in the search box stands for, in one round trip.
 *
 * @returns null if it matches nothing in the project
 */
export async function namedBy(db: Db, project: string, text: string): Promise<NamedEvents | null> {
  if (text.endsWith('*')) return { filter: 'event_type', value: text }
  if (text.length > MAX_VENDOR_ID_LENGTH) return null
  return meaning(text, await batch(db, lookUp(db, project, text)))
}

const isEventId = (text: string) => idPattern('evt').test(text) || idPattern('ftc').test(text)

/** The first that applies. An id is more specific than a type, so it comes first. */
function meaning(text: string, found: Results<ReturnType<typeof lookUp>>): NamedEvents | null {
  const { event, archived, connection, replay, delivered, ref, type } = found
  const [one, another] = delivered
  const first = type[0]?.first ?? null
  if (event.length > 0 || (archived.length > 0 && isEventId(text))) return { event: text }
  if (one && !another) return { event: one.id }
  if (one) return { filter: 'vendor_event_id', value: text }
  if (connection.length > 0) return { filter: 'connection_id', value: text }
  if (replay.length > 0) return { filter: 'replay_id', value: text }
  if (ref.length > 0) return { filter: 'ref', value: text }
  if (first === null) return null
  return { filter: 'event_type', value: first === text ? text : `${text}*` }
}

/**
 * What is known of what an event refers to: who its customer is; of the object that it is about, its customer, its subscription and its invoice,
 * by their ids, what they are called and where their pages are.
 */
export type Links = {
  /** The effects of the event, as {@link withInvoices} shows them. Undefined if it has none on billing objects. */
  effects?: readonly Effect[]
  owner?: Named | undefined
  titles?: ReadonlyMap<string, string>
  pages?: ReadonlyMap<string, string>
}

/** Links an event to what it refers to, in one round trip. */
export async function eventLinks(db: Db, { project_id, vendor, summary }: EventRow): Promise<Links> {
  const { customer, subscription, invoice, object, effects = [] } = summary ?? {}
  const own = effects.find(({ id }) => id === object?.id)
  const named = [
    ...invoicesIn(vendor, effects).map((id) => ({ kind: 'invoice', id })),
    { kind: 'subscription', id: subscription ?? '' },
    { kind: 'invoice', id: invoice ?? '' },
    { kind: own?.kind ?? '', id: own?.id ?? '' },
  ].flatMap(({ kind, id }) => (hasPage(kind) && id !== '' ? { kind, id, vendor } : []))
  if (!vendorOf(vendor)?.snapshots || (named.length === 0 && !customer)) return {}
  const payer = { vendor, id: customer ?? '' }
  const found = await batch(db, {
    customer: findTrace(db, project_id, payer),
    objects: findObjects(db, project_id, named, { beside: plansIn(project_id) }),
    owner: findOwner(db, project_id, payer),
  })
  const paths = projectPaths(project_id)
  const owner = found.owner[0]?.owner
  const known = found.objects.filter(({ body }) => body !== null)
  const at = (type: ObjectKind | 'customer', id: string) => objectPath(paths, { type, id, vendor })
  return {
    effects: withInvoices(vendor, effects, known),
    owner,
    titles: new Map([
      ...(customer && owner?.customer ? [[customer, owner.customer] as const] : []),
      ...titlesOf(known),
    ]),
    pages: new Map([
      ...(customer && found.customer.length > 0 ? [[customer, at('customer', customer)] as const] : []),
      ...known.map((row) => [row.vendor_id, at(row.kind as ObjectKind, row.vendor_id)] as const),
    ]),
  }
}

/** Reads which effects of an event are on known invoices, and shows them as {@link withInvoices} does. */
export async function effectsOf(db: Db, project: string, vendor: string, effects: readonly Effect[]) {
  const keys = invoicesIn(vendor, effects).map((id) => ({ kind: 'invoice', id, vendor }) as const)
  return keys.length === 0 ? effects : withInvoices(vendor, effects, await run(db, findObjects(db, project, keys)))
}
