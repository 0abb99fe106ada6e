import { and, desc, eq, exists, gte, isNull, type SQL, sql } from 'drizzle-orm'
import { audited, type Change } from '../../audit/store'
import { batch, type Db, run } from '../../db/client'
import { insertWhere } from '../../db/insert-where'
import { excluded } from '../../db/sql'
import type { Runtime } from '../../env'
import { Fault, requireFound } from '../../lib/fault'
import { idFloor } from '../../lib/ids'
import { sealContext, unseal } from '../../lib/seal'
import { vendorOf } from '../../vendors'
import type { VendorApi } from '../../vendors/api'
import { backfills } from '../backfill/schema'
import { findConnection, inboxConnectionEntry, liveConnections, nextVersion } from '../connections/connection'
import { connections } from '../connections/schema'
import { keyUnavailable } from '../connections/sealing'
import { ofConnection } from '../of-connection'
import { events } from '../schema'
import { isDelivered } from '../sources'
import { summaryIn } from '../summary'
import { endpointDue, endpointNotDue } from '../vendor-endpoints/store'
import { SIGHTS } from './limits'
import { vendorKeys } from './schema'
import { type Lane, type Turn, turnOf } from './turn'

export type VendorKeyRow = typeof vendorKeys.$inferSelect
type Place = Pick<VendorKeyRow, 'project_id' | 'connection_id'>

/** A key that is ready to be used, with the API that it is for. Never log it. */
export type VendorKey = VendorKeyRow & { vendor: string; api: VendorApi; secret: string; turn: Turn }

/** What a key is bound to: see `sealContext`. */
export function vendorKeyContext({ project_id, connection_id }: Place): string {
  return sealContext(project_id, connection_id, 'api_key')
}

/** Reads the key of a connection. */
export function findVendorKey(db: Db, of: Place) {
  return db.select().from(vendorKeys).where(ofConnection(vendorKeys, of))
}

/**
 * Unseals a key, in whatever state it is.
 *
 * @param lane what its calls are for
 * @returns null if this version of the service takes no key of the vendor
 * @throws {Fault} `encryption_key_unavailable`
 */
export async function openVendorKey(
  rt: Runtime,
  { key, vendor }: { key: VendorKeyRow; vendor: string },
  lane: Lane,
): Promise<VendorKey | null> {
  const api = vendorOf(vendor)?.api
  if (!api) return null
  try {
    const secret = await unseal(rt.settings.encryptionKeys, key, vendorKeyContext(key))
    return { ...key, vendor, api, secret, turn: turnOf(rt, api, secret, lane) }
  } catch {
    throw keyUnavailable("The encryption keys do not open the connection's API key.")
  }
}

/**
 * Sets the key of a connection, in place of another one.
 *
 * @throws {Fault} `not_found`; `api_key_other_mode` if the mode of the connection was changed meanwhile
 */
export async function putVendorKey(db: Db, row: VendorKeyRow, change: Change): Promise<VendorKeyRow> {
  const { project_id, connection_id, hint, livemode } = row
  const fits = and(liveConnections(project_id, connection_id), eq(connections.livemode, livemode))
  const set = insertWhere(db, vendorKeys, row, sql`EXISTS (SELECT 1 FROM ${connections} WHERE ${fits})`)
  const entry = inboxConnectionEntry(project_id, connection_id, 'connection.api_key_set', { hint })
  const { rows, connection } = await batch(db, {
    ...audited(db, change, entry, set.onConflictDoUpdate({ target: KEY, set: REPLACED })),
    version: endFetches(db, row),
    endpoint: endpointDue(db, row, change.now),
    rows: findVendorKey(db, row),
    connection: findConnection(db, project_id, connection_id),
  })
  requireFound(connection, 'Connection')
  if (rows[0]?.box !== row.box) throw otherMode(livemode)
  return rows[0]
}

const KEY = [vendorKeys.project_id, vendorKeys.connection_id]
const REPLACED = {
  key: excluded(vendorKeys.key),
  box: excluded(vendorKeys.box),
  hint: excluded(vendorKeys.hint),
  livemode: excluded(vendorKeys.livemode),
  account: excluded(vendorKeys.account),
  permissions: excluded(vendorKeys.permissions),
  state: excluded(vendorKeys.state),
  added_by: excluded(vendorKeys.added_by),
  checked_at: excluded(vendorKeys.checked_at),
  created_at: excluded(vendorKeys.created_at),
  not_before: excluded(vendorKeys.not_before),
}

/** @param livemode of the key */
export function otherMode(livemode: boolean): Fault {
  const [key, connection] = livemode ? ['live', 'test'] : ['test', 'live']
  return new Fault('api_key_other_mode', `This is a ${key} key, and the connection is in ${connection} mode.`)
}

/** Removes the key of a connection, if it has one. @throws {Fault} `not_found` if there is no such connection */
export async function removeVendorKey(db: Db, of: Place, change: Change): Promise<void> {
  const removed = db.delete(vendorKeys).where(ofConnection(vendorKeys, of)).returning({ id: vendorKeys.connection_id })
  const entry = inboxConnectionEntry(of.project_id, of.connection_id, 'connection.api_key_removed')
  const { connection } = await batch(db, {
    // First, because it asks whether there is a key: removing none changes nothing.
    version: endFetches(db, of, hasKey(db, of)),
    ...audited(db, change, entry, removed),
    endpoint: endpointNotDue(db, of),
    backfill: db.delete(backfills).where(ofConnection(backfills, of)),
    connection: findConnection(db, of.project_id, of.connection_id),
  })
  requireFound(connection, 'Connection')
}

/** Notes that the vendor no longer accepts a key. One that has been replaced since it was read is left alone. */
export async function markRefused(
  db: Db,
  key: Pick<VendorKeyRow, 'project_id' | 'connection_id' | 'box'>,
): Promise<void> {
  const same = and(ofConnection(vendorKeys, key), eq(vendorKeys.box, key.box))
  await run(db, db.update(vendorKeys).set({ state: 'refused' }).where(same))
}

/** Reads the names of active connections whose keys their vendors no longer accept. */
export function findRefused(db: Db, projectId: string) {
  const isLive = and(eq(connections.id, vendorKeys.connection_id), isNull(connections.deleted_at))
  return db
    .select({ name: connections.name })
    .from(vendorKeys)
    .innerJoin(connections, and(isLive, eq(connections.status, 'active')))
    .where(and(eq(vendorKeys.project_id, projectId), eq(vendorKeys.state, 'refused')))
    .orderBy(vendorKeys.connection_id)
}

/** Notes that the vendor is not to be asked with a key before a time (ms). One that has been replaced since it was read is left alone. */
export async function pauseKey(
  db: Db,
  key: Pick<VendorKeyRow, 'project_id' | 'connection_id' | 'box'>,
  until: number,
): Promise<void> {
  const not_before = sql`max(coalesce(${vendorKeys.not_before}, 0), ${until})`
  await run(
    db,
    db
      .update(vendorKeys)
      .set({ not_before })
      .where(and(ofConnection(vendorKeys, key), eq(vendorKeys.box, key.box))),
  )
}

/** Reads the newest deliveries of a connection since a time (ms), as far as they tell whose account it is. */
export function findRecentEvents(db: Db, of: Place, since: number) {
  return db
    .select({ vendor_event_id: events.vendor_event_id, event_type: events.event_type, summary: summaryIn(events) })
    .from(events)
    .where(and(ofConnection(events, of), gte(events.id, idFloor('evt', since)), isDelivered(events.id)))
    .orderBy(desc(events.id))
    .limit(SIGHTS)
}

/** Records of what is being fetched with the former key are then refused: their fence is the version of the connection. */
function endFetches(db: Db, { project_id, connection_id }: Place, condition?: SQL) {
  const which = and(liveConnections(project_id, connection_id), condition)
  return db.update(connections).set({ version: nextVersion }).where(which)
}

function hasKey(db: Db, of: Place): SQL {
  return exists(db.select({ one: sql`1` }).from(vendorKeys).where(ofConnection(vendorKeys, of)))
}
