import { and, eq, exists, inArray, isNull, not, type SQL, sql } from 'drizzle-orm'
import { audited, type Change, entriesOf } from '../../audit/store'
import { batch, ConstraintError, type Directory } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { insertWhere } from '../../db/insert-where'
import { refusedNull, refusedTwin } from '../../db/refused'
import { valuesOf } from '../../db/sql'
import { domains } from '../../domains/schema'
import { keptWith } from '../../idempotency/claim'
import { ssoConnectionDomains, ssoConnections } from '../../identities/schema'
import type { Audience, Discovery } from '../../identities/values'
import { Fault } from '../../lib/fault'
import { projects } from '../../tenancy/schema'
import { MAX_SSO_CONNECTIONS } from '../limits'
import { findSsoConnection, holdsDomain, isHeld, isLiveConnection, type SsoConnection } from './connection'

type Row = typeof ssoConnections.$inferSelect
type Of = Pick<Row, 'project_id' | 'id'>

/** An entry of the audit log about a connection. */
export const ssoConnectionEntry = entriesOf('sso_connection')

/** @throws {Fault} `connection_limit_reached`, `domain_taken` */
export async function insertSsoConnection(
  directory: Directory,
  row: Row,
  domainIds: readonly string[],
  change: Change,
): Promise<SsoConnection> {
  const { project_id, id, audience, name, issuer } = row
  const all = and(eq(ssoConnections.project_id, project_id), isNull(ssoConnections.deleted_at))
  const room = sql`${directory.$count(ssoConnections, all)} < ${MAX_SSO_CONNECTIONS}`
  const { rows } = await refusingTaken(
    batch(directory, {
      ...audited(
        directory,
        change,
        ssoConnectionEntry(project_id, id, 'sso_connection.created', { audience, name, issuer }),
        insertWhere(directory, ssoConnections, row, room),
      ),
      ...keptWith(directory, change, id),
      domains: domainsAdded(directory, row, domainIds),
      rows: findSsoConnection(directory, project_id, id),
    }),
  )
  if (rows[0]) return rows[0]
  throw new Fault(
    'connection_limit_reached',
    `A project can have ${MAX_SSO_CONNECTIONS} connections. Delete one first.`,
  )
}

/** What a change sets of a connection. `domain_ids` and `enforce`: undefined leaves them. */
export type Update = Partial<Pick<Row, 'name' | 'client_id' | 'secret' | 'auth_method' | 'settings' | 'state'>> & {
  domain_ids?: readonly string[] | undefined
  enforce?: boolean | undefined
  /** Whether it asks for a new test. */
  retest?: boolean
}

/**
 * Changes a connection as it was read.
 *
 * @returns null if it has changed since, or lost the domain that `enforce` takes: read it again
 * @throws {Fault} `domain_taken`; `break_glass_missing` if nobody could sign in without it
 */
export async function updateSsoConnection(
  directory: Directory,
  read: SsoConnection,
  { domain_ids, enforce, retest = false, ...columns }: Update,
  { action, details, ...change }: Change & { action: string; details?: Record<string, unknown> },
): Promise<SsoConnection | null> {
  const { project_id, id, revision, state, name } = read
  // Either all of the batch happens to the connection that was read, or nothing.
  const free = columns.state === 'disabled' ? sql`NOT EXISTS ${enforcing(directory, read)}` : undefined
  const held = enforce ? willHoldDomain(directory, read, domain_ids) : undefined
  const enforced = sql`EXISTS ${enforcing(directory, read)}`
  const sameEnforced = enforce === undefined ? undefined : read.enforced ? enforced : not(enforced)
  // The settings are written as a whole.
  const same = columns.settings && eq(ssoConnections.settings, read.settings)
  const unchanged = and(
    eq(ssoConnections.revision, revision),
    eq(ssoConnections.state, state),
    // The entry of the audit log has what the change replaced.
    eq(ssoConnections.name, name),
    same,
    free,
    held,
    sameEnforced,
  )
  const next = sql`CASE WHEN ${unchanged} THEN ${ssoConnections.revision} + ${retest ? 1 : 0} END`
  const updated = directory
    .update(ssoConnections)
    .set({ ...columns, revision: next })
    .where(isLiveConnection(project_id, id))
  try {
    const { rows } = await refusingTaken(
      batch(directory, {
        ...audited(directory, change, ssoConnectionEntry(project_id, id, action, details), updated),
        ...(domain_ids && domainsReplaced(directory, read, domain_ids)),
        ...(enforce !== undefined && { enforced: enforcementSet(directory, read, enforce) }),
        rows: findSsoConnection(directory, project_id, id),
      }),
    )
    return rows[0] ?? null
  } catch (error) {
    if (refusedNull(error, ssoConnections.revision)) return null
    if (error instanceof ConstraintError && error.message.includes('break_glass_missing')) throw noBreakGlass()
    throw error
  }
}

/** Whether a connection has a domain that its project holds now, once it has these domains. */
function willHoldDomain(directory: Directory, { project_id, id }: Of, next: readonly string[] | undefined): SQL {
  if (next === undefined) return holdsDomain(project_id, id)
  const among = and(eq(domains.project_id, project_id), inArray(domains.id, valuesOf(next)), isHeld(domains))
  return exists(directory.select({ one: sql`1` }).from(domains).where(among))
}

/** Selects the project, if it enforces the connection. */
function enforcing(directory: Directory, { project_id, id }: Of) {
  return directory
    .select({ one: sql`1` })
    .from(projects)
    .where(and(eq(projects.id, project_id), eq(projects.sso_enforced_by, id)))
}

/** Deletes a connection, its secret and its claim to domains. Deleting it again changes nothing. @returns it before that */
export async function deleteSsoConnection(directory: Directory, { project_id, id }: Of, change: Change) {
  const deletable = and(isLiveConnection(project_id, id), sql`NOT EXISTS ${enforcing(directory, { project_id, id })}`)
  const { before, enforced } = await batch(directory, {
    before: directory
      .select({ deleted_at: ssoConnections.deleted_at })
      .from(ssoConnections)
      .where(and(eq(ssoConnections.project_id, project_id), eq(ssoConnections.id, id))),
    enforced: enforcing(directory, { project_id, id }),
    ...audited(
      directory,
      change,
      ssoConnectionEntry(project_id, id, 'sso_connection.deleted'),
      directory
        .update(ssoConnections)
        // Nothing reads the addresses again, and they may be long.
        .set({
          deleted_at: change.now,
          state: 'disabled',
          secret: null,
          settings: sql`json_set(${ssoConnections.settings}, '$.redirect_uris', json('[]'))`,
        })
        .where(deletable),
    ),
    freed: directory
      .delete(ssoConnectionDomains)
      .where(
        and(
          eq(ssoConnectionDomains.project_id, project_id),
          eq(ssoConnectionDomains.connection_id, id),
          sql`NOT EXISTS ${enforcing(directory, { project_id, id })}`,
        ),
      ),
  })
  return { existed: before.length > 0, enforced: enforced.length > 0 }
}

/**
 * Keeps what the discovery document of a connection's provider was like. An isolate remembers a document for ten minutes.
 *
 * @param condition under which it is kept
 */
export function discoveryNoted(directory: Directory, { project_id, id }: Of, discovery: Discovery, condition: SQL) {
  return directory
    .update(ssoConnections)
    .set({ discovery })
    .where(and(isLiveConnection(project_id, id), condition))
}

function domainsAdded(
  directory: Directory,
  { project_id, id, audience }: Of & { audience: Audience },
  ids: readonly string[],
) {
  const exists = directory.select({ one: sql`1` }).from(ssoConnections).where(isLiveConnection(project_id, id))
  const row = {
    project_id: sql`${project_id}`,
    domain_id: sql`j.value`,
    audience: sql`${audience}`,
    connection_id: sql`${id}`,
  }
  return insertFrom(
    directory,
    ssoConnectionDomains,
    row,
    sql`FROM json_each(${JSON.stringify(ids)}) j WHERE EXISTS ${exists}`,
  )
}

function domainsReplaced(directory: Directory, read: SsoConnection, ids: readonly string[]) {
  const own = and(eq(ssoConnectionDomains.project_id, read.project_id), eq(ssoConnectionDomains.connection_id, read.id))
  return { freed: directory.delete(ssoConnectionDomains).where(own), taken: domainsAdded(directory, read, ids) }
}

/** A trigger refuses it if no owner has break-glass access. */
function enforcementSet(directory: Directory, { project_id, id }: SsoConnection, on: boolean) {
  const condition = on ? undefined : eq(projects.sso_enforced_by, id)
  return directory
    .update(projects)
    .set({ sso_enforced_by: on ? id : null })
    .where(and(eq(projects.id, project_id), condition))
}

async function refusingTaken<T>(sent: Promise<T>): Promise<T> {
  try {
    return await sent
  } catch (error) {
    const { project_id, domain_id, audience } = ssoConnectionDomains
    if (!refusedTwin(error, project_id, domain_id, audience)) throw error
    throw new Fault(
      'domain_taken',
      'Another connection of this project with the same audience has one of these domains. A domain can belong to only one connection for each audience.',
    )
  }
}

function noBreakGlass(): Fault {
  return new Fault(
    'break_glass_missing',
    'Give an owner break-glass access first: PUT /platform/v1/members/{user_id}/break-glass. Without it, nobody could sign in while the provider is down.',
  )
}
