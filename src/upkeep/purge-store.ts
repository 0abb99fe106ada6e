import { and, type Column, eq, gt, isNotNull, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { apiKeys, retiredSecrets } from '../api-keys/schema'
import { auditLog } from '../audit/schema'
import { billingObjects } from '../billing/schema'
import { features, planRefs, planRevisions, plans } from '../catalog/schema'
import { consumerIds, consumers, customerLinks, customerMoves, devices, erasures, grants } from '../consumers/schema'
import { batch, type Database, type Db, type Directory, raw, run } from '../db/client'
import { domains } from '../domains/schema'
import { ssoConnectionDomains, ssoConnections, ssoIdentities, ssoTests } from '../identities/schema'
import { connections } from '../inbox/connections/schema'
import { attempts, bodies, events, minutes, payloads, refs, replays, totals } from '../inbox/schema'
import { formerMembers, invitations, members, projects } from '../tenancy/schema'
import { entitlementKeys } from '../token-keys/schema'
import { CHUNK_EVENTS, CHUNK_OBJECTS, CHUNK_PAYLOADS, CHUNK_ROWS } from './limits'

/** Literals, so that the partial indexes can be used. */
const [LIVE, REVOKED] = [isNull(apiKeys.revoked_at), isNotNull(apiKeys.revoked_at)]

/** A table, its key, its rows of a project, and how many of them one step deletes. */
type Part = { table: SQLiteTable; key: readonly Column[]; rows: (id: string) => SQL; most: number }

function partOf(table: SQLiteTable & { project_id: Column }, key: readonly Column[], most: number): Part {
  return { table, key, rows: (id) => sql`FROM ${table} WHERE ${table.project_id} = ${id}`, most }
}

/**
 * The tables with rows of projects, in the order in which they are emptied. The attempts of an event go with it.
 * Keys come in two parts, because each of their two indexes of projects has only one.
 */
const PARTS: Record<string, Part> = {
  bodies: partOf(bodies, [bodies.project_id, bodies.id], CHUNK_PAYLOADS),
  payloads: partOf(payloads, [payloads.project_id, payloads.id], CHUNK_PAYLOADS),
  refs: partOf(refs, [refs.project_id, refs.ref, refs.event_id], CHUNK_ROWS),
  events: partOf(events, [events.project_id, events.id], CHUNK_EVENTS),
  billing_objects: partOf(
    billingObjects,
    [billingObjects.project_id, billingObjects.kind, billingObjects.vendor_id, billingObjects.vendor],
    CHUNK_OBJECTS,
  ),
  devices: partOf(devices, [devices.project_id, devices.token_hash], CHUNK_ROWS),
  consumer_ids: partOf(consumerIds, [consumerIds.project_id, consumerIds.external_id], CHUNK_ROWS),
  customer_links: partOf(
    customerLinks,
    [customerLinks.project_id, customerLinks.customer, customerLinks.vendor],
    CHUNK_ROWS,
  ),
  customer_moves: partOf(
    customerMoves,
    [customerMoves.project_id, customerMoves.ref, customerMoves.moved_at, customerMoves.customer, customerMoves.vendor],
    CHUNK_ROWS,
  ),
  erasures: partOf(erasures, [erasures.project_id, erasures.id], CHUNK_ROWS),
  consumers: partOf(consumers, [consumers.project_id, consumers.id], CHUNK_OBJECTS),
  grants: partOf(grants, [grants.project_id, grants.consumer_id, grants.id], CHUNK_OBJECTS),
  entitlement_keys: partOf(entitlementKeys, [entitlementKeys.project_id, entitlementKeys.kid], CHUNK_ROWS),
  plan_refs: partOf(planRefs, [planRefs.project_id, planRefs.vendor, planRefs.ref], CHUNK_ROWS),
  plan_revisions: partOf(
    planRevisions,
    [planRevisions.project_id, planRevisions.plan_id, planRevisions.revision],
    CHUNK_OBJECTS,
  ),
  plans: partOf(plans, [plans.project_id, plans.id], CHUNK_OBJECTS),
  features: partOf(features, [features.project_id, features.key], CHUNK_ROWS),
  replays: partOf(replays, [replays.project_id, replays.id], CHUNK_ROWS),
  minutes: partOf(minutes, [minutes.project_id, minutes.minute, minutes.connection_id], CHUNK_ROWS),
  totals: partOf(totals, [totals.project_id, totals.status], CHUNK_ROWS),
  sso_tests: partOf(ssoTests, [ssoTests.project_id, ssoTests.connection_id, ssoTests.id], CHUNK_OBJECTS),
  sso_identities: partOf(ssoIdentities, [ssoIdentities.project_id, ssoIdentities.id], CHUNK_ROWS),
  sso_connection_domains: partOf(
    ssoConnectionDomains,
    [ssoConnectionDomains.project_id, ssoConnectionDomains.domain_id, ssoConnectionDomains.audience],
    CHUNK_ROWS,
  ),
  sso_connections: partOf(ssoConnections, [ssoConnections.project_id, ssoConnections.id], CHUNK_OBJECTS),
  connections: partOf(connections, [connections.project_id, connections.id], CHUNK_OBJECTS),
  invitations: partOf(invitations, [invitations.project_id, invitations.id], CHUNK_ROWS),
  domains: partOf(domains, [domains.project_id, domains.id], CHUNK_OBJECTS),
  members: partOf(members, [members.project_id, members.user_id], CHUNK_ROWS),
  former_members: partOf(formerMembers, [formerMembers.project_id, formerMembers.user_id], CHUNK_ROWS),
  audit_log: partOf(auditLog, [auditLog.project_id, auditLog.id], CHUNK_ROWS),
  retired_secrets: retiredSecretsOf(LIVE),
  retired_secrets_of_revoked: retiredSecretsOf(REVOKED),
  api_keys: keysOf(LIVE),
  revoked_api_keys: keysOf(REVOKED),
}

function keysOf(which: SQL): Part {
  const rows = (id: string) => sql`FROM ${apiKeys} WHERE ${apiKeys.project_id} = ${id} AND ${which}`
  return { table: apiKeys, key: [apiKeys.id], rows, most: CHUNK_ROWS }
}

/** The retired secrets of keys. CROSS JOIN pins the order: the keys of the project first. */
function retiredSecretsOf(which: SQL): Part {
  const rows = (
    id: string,
  ) => sql`FROM ${apiKeys} CROSS JOIN ${retiredSecrets} ON ${retiredSecrets.key_id} = ${apiKeys.id}
    WHERE ${apiKeys.project_id} = ${id} AND ${which}`
  return { table: retiredSecrets, key: [retiredSecrets.hash], rows, most: CHUNK_ROWS }
}

/**
 * Reads the next deleted project, after the project `after`, whose rows this database is to delete: of its own projects,
 * those whose time is over; of the directory's copies, those whose store has nothing left of them.
 */
export function nextToPurge(db: Database, { store, after, now }: { store: number; after: string; now: number }) {
  const over = and(eq(projects.store, store), lte(projects.purge_at, now))
  return db
    .select()
    .from(projects)
    .where(and(isNotNull(projects.deleted_at), gt(projects.id, after), or(isNotNull(projects.purging_since), over)))
    .orderBy(projects.id)
    .limit(1)
}

/** Begins to delete the rows of a project whose time is over. From then on, nothing restores it. @returns whether it did */
export async function beginPurge(db: Db, id: string, now: number): Promise<boolean> {
  const over = and(eq(projects.id, id), isNull(projects.purging_since), lte(projects.purge_at, now))
  const begun = db.update(projects).set({ purging_since: now }).where(over).returning({ id: projects.id })
  return (await run(db, begun)).length > 0
}

/** Reads the name of the first table that has rows of a project; null if none has. */
export async function firstWithRows(db: Db, id: string): Promise<string | null> {
  // CASE looks no further than the first one.
  const cases = Object.entries(PARTS).map(([name, { rows }]) => sql`WHEN EXISTS (SELECT 1 ${rows(id)}) THEN ${name}`)
  const found = sql<string | null>`CASE ${sql.join(cases, sql` `)} END`
  const [row] = await run(
    db,
    raw(db, { found }, (fields) => sql`SELECT ${fields}`),
  )
  return row?.found ?? null
}

/** Deletes some of the rows of a project from a table. */
export async function deleteRows(db: Db, name: string, id: string): Promise<void> {
  const { table, key, rows, most } = PARTS[name] as Part
  const columns = sql.join([...key], sql`, `)
  const some = (fields: SQL) => sql`(SELECT ${fields} ${rows(id)} ORDER BY ${columns} LIMIT ${most})`
  const gone = db.delete(table).where(sql`(${columns}) IN ${some(columns)}`)
  if (table !== events) return void (await run(db, gone))
  const tried = db.delete(attempts).where(sql`${attempts.event_id} IN ${some(sql`${events.id}`)}`)
  await batch(db, { tried, gone })
}

/** Deletes the row of a project that has no others. */
export async function deleteLast(db: Db, id: string): Promise<void> {
  await run(db, db.delete(projects).where(and(eq(projects.id, id), isNotNull(projects.purging_since))))
}

/** Notes in the directory that the store of a project has nothing left of it, so that the directory deletes its own rows. */
export async function handOver(
  directory: Directory,
  { id, deleted_at, purge_at, purging_since }: Purged,
): Promise<void> {
  const set = { deleted_at, purge_at, purging_since }
  await run(directory, directory.update(projects).set(set).where(eq(projects.id, id)))
}

type Purged = typeof projects.$inferSelect
