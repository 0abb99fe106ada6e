import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/client'
import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { settingsFor } from '../../tenancy/project'
import { connections } from '../connections/schema'
import { packedFrom } from '../packed-from'
import { events } from '../schema'
import { isDelivered } from '../sources'
import { openVendorKey, type VendorKey } from '../vendor-api/keys'
import { vendorKeys } from '../vendor-api/schema'
import type { Lane } from '../vendor-api/turn'
import { VERSION_LOOKED_FOR } from './limits'

const e = alias(events, 'e')

/**
 * Reads the API keys of a project's active connections of a vendor, the oldest connection first, with what recording an answer needs. One that
 * the vendor has refused is among them.
 */
export function findSourceKeys(db: Db, projectId: string, vendor: string) {
  const ofVendor = and(eq(connections.vendor, vendor), eq(connections.status, 'active'))
  return selectSourceKeys(db, and(eq(vendorKeys.project_id, projectId), ofVendor) as SQL)
}

/** Reads the API keys of a project's active connections, as {@link findSourceKeys} does. */
export function findProjectKeys(db: Db, projectId: string) {
  return selectSourceKeys(db, and(eq(vendorKeys.project_id, projectId), eq(connections.status, 'active')) as SQL)
}

/** Reads the API key of a connection of a project. @param connectionId its id, or an expression */
export function findSourceKeyOf(db: Db, projectId: string, connectionId: string | SQL) {
  const { project_id, connection_id } = vendorKeys
  return selectSourceKeys(db, and(eq(project_id, projectId), eq(connection_id, connectionId)) as SQL)
}

/** Reads the API keys of connections. One that has none is not among them. */
export function findKeysOf(db: Db, places: readonly Pick<SourceKey, 'project_id' | 'connection_id'>[]) {
  const list = JSON.stringify(places.map(({ project_id, connection_id }) => [project_id, connection_id]))
  const isOne = sql`(${vendorKeys.project_id}, ${vendorKeys.connection_id}) IN (SELECT value->>0, value->>1 FROM json_each(${list}))`
  return selectSourceKeys(db, isOne)
}

function selectSourceKeys(db: Db, which: SQL) {
  // The version of the newest event that has one: answers are asked for in the same.
  const newest = sql`SELECT ${e.summary} AS summary FROM ${events} ${e} INDEXED BY events_connection
    WHERE ${and(eq(e.connection_id, connections.id), isDelivered(e.id))} ORDER BY ${e.id} DESC LIMIT ${VERSION_LOOKED_FOR}`
  const version = sql`(SELECT summary->>'$.api_version' FROM (${newest}) WHERE summary->>'$.api_version' IS NOT NULL LIMIT 1)`
  return db
    .select({
      key: vendorKeys,
      vendor: connections.vendor,
      connection: {
        // The key has a column of this name too.
        livemode: sql<boolean>`${connections.livemode}`.mapWith(Boolean).as('connection_livemode'),
        customer_is_external_id: connections.customer_is_external_id,
        version: sql<number>`${connections.version}`.as('connection_version'),
        packed_from: packedFrom.as('packed_from'),
        api_version: sql<string | null>`${version}`.as('api_version'),
        settings: settingsFor(connections.project_id),
      },
    })
    .from(vendorKeys)
    .innerJoin(
      connections,
      and(eq(connections.id, vendorKeys.connection_id), eq(connections.project_id, vendorKeys.project_id)),
    )
    .where(and(which, isNull(connections.deleted_at)))
    .orderBy(vendorKeys.connection_id)
}
export type SourceKeyRow = Awaited<ReturnType<typeof findSourceKeys>>[number]

/** A key that is ready to be used, with what recording an answer needs of its connection. Never log it. */
export type SourceKey = VendorKey & { connection: SourceKeyRow['connection'] }

/**
 * Unseals a key.
 *
 * @param lane what its calls are for
 * @returns null for a key that the vendor has refused
 * @throws {Fault} `encryption_key_unavailable`
 */
export async function openSourceKey(rt: Runtime, row: SourceKeyRow, lane: Lane): Promise<SourceKey | null> {
  if (row.key.state !== 'ok') return null
  const key = await openVendorKey(rt, row, lane)
  return key && { ...key, connection: row.connection }
}

/** What needs a key that is unsealed. @returns null if the service's encryption keys do not open the key */
export async function ifOpened<T>(opening: Promise<T>): Promise<T | null> {
  try {
    return await opening
  } catch (error) {
    if (error instanceof Fault && error.fault === 'encryption_key_unavailable') return null
    throw error
  }
}
