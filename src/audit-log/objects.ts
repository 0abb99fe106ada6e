import { and, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm'
import { apiKeys } from '../api-keys/schema'
import { auditLog } from '../audit/schema'
import type { Effect } from '../billing/effect'
import { type PlanDocument, planAt } from '../catalog/revisions'
import { features, plans } from '../catalog/schema'
import { consumers, devices, grants } from '../consumers/schema'
import { consumerTitle } from '../consumers/title'
import { batch, type Database, type Db, type Directory, type Queries, type Query, type Results } from '../db/client'
import { json, valuesOf } from '../db/sql'
import { domains } from '../domains/schema'
import { featureOfGrant, grantName, planOfGrant } from '../entitlements/grant-name'
import type { Runtime } from '../env'
import { webhookEndpoints } from '../followers/schema'
import { ssoConnections } from '../identities/schema'
import { connections } from '../inbox/connections/schema'
import { modeOfEvent } from '../inbox/mode'
import { events, replays } from '../inbox/schema'
import { effectsIn } from '../inbox/summary'

/**
 * The current state of what an entry is about: its name and, if it was revoked or deleted, when (ms). `entry`: of an entry of the
 * log itself, whose name is its action. `key`: of a plan.
 */
export type NamedObject = {
  id: string
  name: string
  ended_at: number | null
  key?: string
  entry?: EntryRow
  /** Of an event: what it did. Null for one without a summary. */
  effects?: Effect[] | null
  /** Of an event or a connection. */
  livemode?: boolean
}

/** An entry of the log. `actor_name`: of an API key. `before`, `after`: of a change of a plan, the plan, if it is kept and not too long. */
type EntryRow = Pick<typeof auditLog.$inferSelect, 'actor_type' | 'actor_id' | 'object_id' | 'details'> & {
  actor_name: string | null
  before: PlanDocument | null
  after: PlanDocument | null
}

/** What {@link readNamed} takes for a feature, whose id is its key. */
export const featureRef = (key: string) => `${FEATURE}${key}`
const FEATURE = 'feature/'

/**
 * Reads the API keys, features, connections, consumers, devices, plans, grants, events, replays, entries and webhook endpoints of the project's store,
 * domains and single sign-on connections of the project among these ids, the ended ones too, in one round trip to each database.
 * Other ids are ignored. It reads one row for each id, and another for what a grant gives or who made an entry. For an entry of a plan, it
 * reads the plan before and after it. If it reads a feature, it reads all features of the catalog, which plans name.
 */
export async function readNamed(rt: Stores, projectId: string, ids: readonly string[]) {
  return (await readNamedAnd(rt, projectId, ids, {})).objects
}

type Stores = Pick<Runtime, 'db' | 'directory'>

/** As {@link readNamed}. @param more statements for the same trip to the project's store, whose results are `found` */
export async function readNamedAnd<Q extends Queries>(
  { db, directory }: Stores,
  projectId: string,
  ids: readonly string[],
  more: Q,
): Promise<{ objects: Map<string, NamedObject>; found: Results<Q> }> {
  const [own, others] = await Promise.all([
    readFrom(
      db,
      ids,
      {
        key_: (some) => namedKeys(db, projectId, some),
        con_: (some) => namedConnections(db, projectId, some),
        csm_: (some) => namedConsumers(db, projectId, some),
        pln_: (some) => namedPlans(db, projectId, some),
        grt_: (some) => namedGrants(db, projectId, some),
        evt_: (some) => namedEvents(db, projectId, some),
        rpl_: (some) => namedReplays(db, projectId, some),
        aud_: (some) => namedEntries(db, projectId, some),
        whe_: (some) => namedEndpoints(db, projectId, some),
        dev_: (some) => namedDevices(db, projectId, some),
        [FEATURE]: () => namedFeatures(db, projectId),
      },
      more,
    ),
    readFrom(
      directory,
      ids,
      {
        dom_: (some) => namedDomains(directory, projectId, some),
        sso_: (some) => namedSso(directory, projectId, some),
      },
      {},
    ),
  ])
  return { objects: new Map([...own.rows, ...others.rows].map((row) => [row.id, row])), found: own.found }
}

/** Reads objects and more in one round trip, or in none. @param reads the statements by the beginnings of the ids that they read */
async function readFrom<Q extends Queries>(
  database: Database,
  ids: readonly string[],
  reads: Record<string, (some: string[]) => Query<NamedObject[]>>,
  more: Q,
): Promise<{ rows: NamedObject[]; found: Results<Q> }> {
  const asked = Object.entries(reads).flatMap(([prefix, read]) => {
    const some = [...new Set(ids.filter((id) => id.startsWith(prefix)))]
    return some.length > 0 ? [[prefix, read(some)] as const] : []
  })
  const named = Object.fromEntries(asked)
  const isNone = asked.length === 0 && Object.keys(more).length === 0
  const found = (isNone ? {} : await batch(database, { ...more, ...named })) as Results<Q & typeof named>
  return { rows: Object.keys(named).flatMap((prefix) => found[prefix] as NamedObject[]), found }
}

/** Consumers by what the console calls them. One without a name, an email address or an external id is left out, as an erased one is. */
function namedConsumers(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  const title = consumerTitle(sql`${projectId}`, consumers) as SQL<string>
  return db
    .select({ id: consumers.id, name: title.as('name'), ended_at: sql<null>`NULL`.as('ended_at') })
    .from(consumers)
    .where(and(eq(consumers.project_id, projectId), inArray(consumers.id, valuesOf(ids)), isNotNull(title)))
}

/** Devices by their name or model. One that has neither, or is no longer stored, is left out. */
function namedDevices(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  const name = sql<string>`coalesce(${devices.name}, ${devices.model})`
  return db
    .select({ id: devices.id, name: name.as('name'), ended_at: devices.revoked_at })
    .from(devices)
    .where(and(eq(devices.project_id, projectId), inArray(devices.id, valuesOf(ids)), isNotNull(name)))
}

function namedPlans(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return db
    .select({ id: plans.id, name: plans.name, key: plans.key, ended_at: sql<null>`NULL`.as('ended_at') })
    .from(plans)
    .where(and(eq(plans.project_id, projectId), inArray(plans.id, valuesOf(ids))))
}

function namedFeatures(db: Db, projectId: string): Query<NamedObject[]> {
  const id = sql<string>`${FEATURE} || ${features.key}`.as('id')
  return db
    .select({ id, name: features.name, ended_at: sql<null>`NULL`.as('ended_at') })
    .from(features)
    .where(eq(features.project_id, projectId))
}

/** Grants by {@link grantName}. */
function namedGrants(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return db
    .select({ id: grants.id, name: grantName.as('name'), ended_at: grants.revoked_at })
    .from(grants)
    .leftJoin(features, featureOfGrant)
    .leftJoin(plans, planOfGrant)
    .where(and(eq(grants.project_id, projectId), inArray(grants.id, valuesOf(ids))))
}

/** Events by the vendor's type. */
function namedEvents(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return db
    .select({
      id: events.id,
      name: events.event_type,
      ended_at: sql<null>`NULL`.as('ended_at'),
      effects: effectsIn(events).as('effects'),
      livemode: modeOfEvent.mapWith(Boolean).as('livemode'),
    })
    .from(events)
    .where(and(eq(events.project_id, projectId), inArray(events.id, valuesOf(ids))))
}

/** Replays by how many events they reopened. */
function namedReplays(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  const { queued } = replays
  const name = sql<string>`format('Replay of %,d event%s', ${queued}, iif(${queued} = 1, '', 's'))`.as('name')
  return db
    .select({ id: replays.id, name, ended_at: sql<null>`NULL`.as('ended_at') })
    .from(replays)
    .where(and(eq(replays.project_id, projectId), inArray(replays.id, valuesOf(ids))))
}

/** Entries of the log by their actions, with who made them. */
function namedEntries(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  const { actor_type, actor_id, object_id, details } = auditLog
  const revision = sql`${details} ->> 'revision'`
  const plan = (at: SQL) => {
    const found = planAt({ project_id: auditLog.project_id, id: object_id, revision: at })
    return json<PlanDocument | null>(sql`CASE WHEN ${auditLog.action} = 'plan.updated' THEN ${found} END`)
  }
  const before = plan(sql`${revision} - 1`).as('before')
  const entry = {
    actor_type,
    actor_id,
    object_id,
    details,
    actor_name: apiKeys.name,
    before,
    after: plan(revision).as('after'),
  }
  return db
    .select({ id: auditLog.id, name: auditLog.action, ended_at: sql<null>`NULL`.as('ended_at'), entry })
    .from(auditLog)
    .leftJoin(apiKeys, and(eq(auditLog.actor_type, 'api_key'), eq(apiKeys.id, auditLog.actor_id)))
    .where(and(eq(auditLog.project_id, projectId), inArray(auditLog.id, valuesOf(ids))))
}

/** Webhook endpoints by their URLs. One that was deleted is not stored. */
function namedEndpoints(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return db
    .select({ id: webhookEndpoints.id, name: webhookEndpoints.url, ended_at: sql<null>`NULL`.as('ended_at') })
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.project_id, projectId), inArray(webhookEndpoints.id, valuesOf(ids))))
}

function namedKeys(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return db
    .select({ id: apiKeys.id, name: apiKeys.name, ended_at: apiKeys.revoked_at })
    .from(apiKeys)
    .where(and(eq(apiKeys.project_id, projectId), inArray(apiKeys.id, valuesOf(ids))))
}

function namedConnections(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return db
    .select({
      id: connections.id,
      name: connections.name,
      ended_at: connections.deleted_at,
      livemode: connections.livemode,
    })
    .from(connections)
    .where(and(eq(connections.project_id, projectId), inArray(connections.id, valuesOf(ids))))
}

function namedDomains(directory: Directory, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return directory
    .select({
      id: domains.id,
      name: domains.hostname,
      ended_at: sql<number | null>`iif(${domains.state} = 'released', ${domains.state_since}, NULL)`.as('ended_at'),
    })
    .from(domains)
    .where(and(eq(domains.project_id, projectId), inArray(domains.id, valuesOf(ids))))
}

function namedSso(directory: Directory, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return directory
    .select({ id: ssoConnections.id, name: ssoConnections.name, ended_at: ssoConnections.deleted_at })
    .from(ssoConnections)
    .where(and(eq(ssoConnections.project_id, projectId), inArray(ssoConnections.id, valuesOf(ids))))
}
