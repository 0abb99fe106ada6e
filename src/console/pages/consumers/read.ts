import { auditPaging, listAudit } from '../../../audit-log/read'
import { namesOfCustomers } from '../../../billing/customers/names'
import type { CustomerKey } from '../../../billing/customers/read'
import { type Device, findDevice, listDevices } from '../../../consumers/devices'
import { editsOf } from '../../../consumers/edits'
import { type EndedLink, lastEnded } from '../../../consumers/ended-links'
import { type Erasure, findErasure } from '../../../consumers/erase'
import { MAX_CUSTOMERS } from '../../../consumers/limits'
import { customersOf, type Link } from '../../../consumers/links'
import { type Consumer, changeable, countMerged, findConsumer, listMerged } from '../../../consumers/read'
import { type ConsumerRef, refToChange, refToRead } from '../../../consumers/ref'
import { batch, type Db, type Results, run } from '../../../db/client'
import { countDevices, withCap } from '../../../devices/device-limit'
import { readFacts } from '../../../entitlements/answer'
import { type Grant, listGrants } from '../../../entitlements/grants'
import { factsOf } from '../../../entitlements/read'
import { projectOf } from '../../../http/auth'
import type { EventRow } from '../../../inbox/events/events'
import { typesOfEvents } from '../../../inbox/events/of-customer'
import { SearchQuery } from '../../../inbox/search/filters'
import { findPage } from '../../../inbox/search/search'
import { requireFound } from '../../../lib/fault'
import { idTime } from '../../../lib/ids'
import { listIdentities, type NamedIdentity } from '../../../sso/identities/identities'
import { can, type Visit } from '../../page'
import type { NamedEntry } from '../audit-log/entry'
import { readNames } from '../audit-log/names'
import { calledIn } from '../customers/read'
import { type Entitlements, entitlementsIn, eventsIn, FEATURES, sourceNames } from '../entitlements/read'
import { namesOf } from '../events/store'
import { type ShownEdit, shownEdits } from './edits'
import { type LatestObjects, readLatest } from './latest'
import type { TabName } from './tabs'

/** How many rows the history of a consumer shows. */
export const HISTORY = 20
/** Devices that the page shows: active ones, and the last that were revoked. */
const ACTIVE = 20
const REVOKED = 5

/** Events that the page shows. */
const EVENTS = 20

/** How many customers the page names. */
export const NAMED = 10

/** Grants that the page shows. */
const GRANTS = 5

/** Identities that the page shows. */
const IDENTITIES = 10

/** A consumer with what its page shows. */
export type ShownConsumer = {
  row: Consumer
  /** The one that it was merged into. */
  into: Consumer | null
  customers: Link[]
  /** What the vendor calls one of them; undefined if that is not known, or not shown. */
  calledOf: (customer: CustomerKey) => string | undefined
  /** What its customers have. */
  latest: LatestObjects
  /** `active`: how many are; `more`: whether there are others than these. */
  devices: { active: number; limit: number; data: Device[]; more: boolean }
  /** What it may do; null if it has too much for one answer. */
  entitlements: Entitlements | null
  /** The newest events of its customers; none if they are not shown. `more`: there are, or may be, others. */
  events: { data: readonly EventRow[]; more: boolean }
  /** The newest grants, ended ones too. `more`: there are others. `names`: of the users and API keys that made them, by id; read for the tab of grants only. */
  grants: { data: Grant[]; more: boolean; names: ReadonlyMap<string, string> }
  /** With whom they sign in with single sign-on, the newest first; none if the user may not see them. `more`: there are others. */
  identities: { data: NamedIdentity[]; more: boolean }
  /** Who created it, and its last changes; none if they are not shown. `names`: as of `grants`. */
  past: { created_by: string | null; edits: ShownEdit[]; names: ReadonlyMap<string, string> }
  /** The links of customers that ended last; none if they are not shown. */
  endedLinks: EndedLink[]
  /** The types of events that made links, by the ids of the events; those that are shown. */
  linkedBy: ReadonlyMap<string, string>
  /** Null for a consumer that was not erased. */
  erasure: Erasure | null
  /** The newest entries of the audit log about the consumer; null if they are not shown, or the user may not read the log. */
  history: NamedEntry[] | null
}

/** Whether a consumer is neither merged into another one nor erased. */
export function isLiving({ merged_into, state }: Consumer): boolean {
  return merged_into === null && state !== 'erased'
}

/** The consumer in the path, by either of its ids. */
export function refIn(c: Visit): ConsumerRef {
  return refToRead(c.req.param('consumer') ?? '')
}

/** Reads the consumer in the path, a merged one too. @throws {Fault} `not_found` */
export async function readConsumer(c: Visit): Promise<Consumer> {
  const { db } = c.get('rt')
  return requireFound(await run(db, findConsumer(db, projectOf(c.get('actor')), refIn(c))), 'Consumer')
}

/** Reads the consumer in the path. @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased` */
export async function readLiving(c: Visit): Promise<Consumer> {
  return changeable([await readConsumer(c)])
}

/** The consumer that the path of a change names. */
export function addressedConsumer(c: Visit) {
  return { project_id: projectOf(c.get('actor')), ref: refToChange(c.req.param('consumer') ?? '') }
}

/** Reads what a tab of a consumer's page shows: the consumer first, then what belongs to its customers. */
export async function readShownConsumer(c: Visit, tab: TabName | null): Promise<ShownConsumer> {
  const rt = c.get('rt')
  const { db } = rt
  const project = projectOf(c.get('actor'))
  const ref = refIn(c)
  const found = await readFacts(c, (extent) => ({
    rows: findConsumer(db, project, ref),
    customers: customersOf(db, project, ref),
    counts: countDevices(db, { project_id: project, ref }, rt.now),
    active: listDevices(db, project, ref, { state: 'active', before: null, take: ACTIVE }),
    revoked: listDevices(db, project, ref, { state: 'revoked', before: null, take: REVOKED + 1 }),
    erasure: findErasure(db, project, ref),
    merged: listMerged(db, project, ref),
    given: listGrants(db, project, ref, { before: null, take: GRANTS + 1 }),
    ...factsOf(db, project, [ref], { keys: null, named: true, ...extent }),
  }))
  const row = requireFound(found.rows, 'Consumer')
  const list = auditPaging('console/consumers/history', { object_id: row.id, limit: HISTORY })
  const isPast = tab === 'history' || !isLiving(row)
  const { merged_into } = row
  const given = found.given.slice(0, GRANTS)
  const givers = tab === 'access' ? given.map(({ actor }) => actor) : []
  const billed = can(c, 'billing:read') ? found.customers : []
  const entitlements = entitlementsIn(found)
  const beside = namesBeside(c, billed, { tab, isPast, entitlements })
  const past = {
    entries: listAudit(db, project, list.filters, list.at),
    ...happenedIn(db, project, ref, found.customers),
  }
  const [{ latest, found: called }, happened, identities, events, givenBy, [into = null]] = await Promise.all([
    readLatest(c, billed, { named: tab === 'billing', more: beside }),
    isPast && can(c, 'audit_log:read') ? batch(db, past) : null,
    tab === 'devices' ? identitiesOf(c, [row, ...found.merged], { take: IDENTITIES + 1 }) : [],
    tab === 'events' ? eventsOf(c, row) : { data: [], more: false },
    namesOf(rt, project, givers),
    merged_into === null ? [] : run(db, findConsumer(db, project, { id: merged_into })),
  ])
  const { created_by = null, edits } = happened?.own[0] ?? {}
  const [named, actors] = await Promise.all([
    happened && readNames(rt, project, happened.entries),
    namesOf(rt, project, [created_by ?? [], ...(edits ?? []).map(({ by }) => by)].flat()),
  ])
  const history = happened && named && list.page(happened.entries, named).data
  const devices = await devicesIn(db, { project_id: project, ref }, found)
  const [erasure = null] = found.erasure
  const grants = { data: given, more: found.given.length > GRANTS, names: givenBy }
  const signIns = { data: identities.slice(0, IDENTITIES), more: identities.length > IDENTITIES }
  return {
    row,
    into,
    customers: found.customers,
    calledOf: calledIn(called.names ?? []),
    latest,
    devices,
    entitlements: entitlements && { ...entitlements, called: sourceNames(soldIn(latest), called.types ?? []) },
    grants,
    erasure,
    history,
    identities: signIns,
    events,
    past: { created_by, edits: shownEdits(row, edits ?? []), names: actors },
    endedLinks: happened?.ended ?? [],
    linkedBy: typesById([happened?.types, called.types]),
  }
}

const soldIn = ({ subscription, purchase }: LatestObjects) => [...subscription.data, ...purchase.data]

type Typed = readonly { id: string; type: string }[]
const typesById = (lists: readonly (Typed | undefined)[]) =>
  new Map(lists.flatMap((list) => (list ?? []).map(({ id, type }) => [id, type] as const)))

/** Statements that read what is called otherwise than by its id: customers, and events that sources of entitlements or links of customers name. */
function namesBeside(
  c: Visit,
  customers: readonly Link[],
  { tab, isPast, entitlements }: { tab: TabName | null; isPast: boolean; entitlements: Entitlements | null },
) {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const ids = tab === 'billing' || isPast ? customers.map(({ id }) => id) : []
  const linking = customers.slice(0, NAMED).flatMap(({ event_id }) => event_id ?? [])
  const events = tab === 'access' ? eventsIn(entitlements, FEATURES) : tab === 'billing' ? linking : []
  return {
    ...(ids.length > 0 && { names: namesOfCustomers(db, project, ids) }),
    ...(events.length > 0 && { types: typesOfEvents(db, project, events) }),
  }
}

/** The devices that the page shows, of those that were read. */
async function devicesIn(
  db: Db,
  owner: Parameters<typeof countDevices>[1],
  { counts: [counted], active: living, revoked }: Results<DeviceReads>,
): Promise<ShownConsumer['devices']> {
  const { active, limit } = counted ? await withCap(db, owner.project_id, owner.ref, counted) : { active: 0, limit: 0 }
  const data = [...living, ...revoked.slice(0, REVOKED)]
  return { active, limit, data, more: active > ACTIVE || revoked.length > REVOKED }
}
type DeviceReads = {
  counts: ReturnType<typeof countDevices>
  active: ReturnType<typeof listDevices>
  revoked: ReturnType<typeof listDevices>
}

/** Statements that read what happened to a consumer beside the audit log: its changes, and which events linked its customers. */
function happenedIn(db: Db, project: string, ref: ConsumerRef, customers: readonly Link[]) {
  const newest = customers.flatMap(({ event_id }) => event_id ?? []).sort((a, b) => idTime(b) - idTime(a))
  return {
    ended: lastEnded(db, project, ref, HISTORY),
    own: editsOf(db, project, ref),
    types: typesOfEvents(db, project, newest.slice(0, HISTORY)),
  }
}

/** Reads the newest events of the consumer's customers. */
async function eventsOf(c: Visit, { id }: Consumer): Promise<ShownConsumer['events']> {
  const fields = { ...SearchQuery.parse({}), consumer: id }
  const asked = { cursor: undefined, limit: EVENTS }
  const page = await findPage(c.get('rt').db, projectOf(c.get('actor')), fields, asked)
  const { data, has_more, truncated } = page.pageOf(await page.read('summary'))
  return { data, more: has_more || truncated }
}

/** Reads a device of the consumer in the path. @throws {Fault} `not_found` */
export async function readDevice(c: Visit, { id }: Consumer): Promise<Device> {
  const { db } = c.get('rt')
  return requireFound(
    await run(db, findDevice(db, projectOf(c.get('actor')), { id }, c.req.param('device') ?? '')),
    'Device',
  )
}

/** Reads an identity of the consumer in the path. @throws {Fault} `not_found` */
export async function readIdentity(c: Visit, { id }: Consumer): Promise<NamedIdentity> {
  const { db } = c.get('rt')
  const merged = await run(db, listMerged(db, projectOf(c.get('actor')), { id }))
  return requireFound(
    await identitiesOf(c, [{ id }, ...merged], { id: c.req.param('identity') ?? '', take: 1 }),
    'Identity',
    'at this consumer',
  )
}

/** Reads the identities of consumers, the newest first; none if the user may not see them. */
async function identitiesOf(
  c: Visit,
  consumers: readonly { id: string }[],
  asked: { id?: string; take: number },
): Promise<NamedIdentity[]> {
  if (!can(c, 'sso:read')) return []
  const { directory } = c.get('rt')
  const ids = consumers.map(({ id }) => id)
  return run(
    directory,
    listIdentities(directory, projectOf(c.get('actor')), { ...asked, consumers: ids, before: null }),
  )
}

/** What a merge would move. */
export type Moving = { customers: number; more: boolean; merged: number; devices: number }

/** Reads what a merge of the consumer would move. */
export async function readMoving(c: Visit, { id }: Consumer): Promise<Moving> {
  const { db, now } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const { customers, merged, devices } = await batch(db, {
    devices: countDevices(db, { project_id: project, ref: { id } }, now),
    customers: customersOf(db, project, { id }),
    merged: countMerged(db, project, [{ id }]),
  })
  return {
    customers: customers.length,
    more: customers.length >= MAX_CUSTOMERS,
    merged: merged[0]?.n ?? 0,
    devices: devices[0]?.active ?? 0,
  }
}
