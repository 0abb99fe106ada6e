import { and, eq, sql } from 'drizzle-orm'
import { audited, type Change } from '../../audit/store'
import { batch, type Db } from '../../db/client'
import type { Runtime } from '../../env'
import { Fault, requireFound } from '../../lib/fault'
import type { Verification } from '../../vendors/verification'
import { takeEffect } from '../receive/known-connections'
import {
  type Connection,
  type ConnectionRow,
  findConnection,
  inboxConnectionEntry,
  liveConnections,
  nextVersion,
} from './connection'
import { connections } from './schema'

/**
 * Sets how a connection of the vendor `hmac` verifies and reads its deliveries, from the next one on. Setting the same again
 * changes nothing.
 *
 * @throws {Fault} `not_found`, `verification_unsupported`
 */
export async function setVerification(
  rt: Runtime,
  of: Pick<Connection, 'project_id' | 'id'>,
  verification: Verification,
  change: Change,
): Promise<ConnectionRow> {
  const row = await putVerification(rt.db, of, verification, change)
  await takeEffect(of.id)
  return row
}

async function putVerification(
  db: Db,
  { project_id, id }: Pick<Connection, 'project_id' | 'id'>,
  verification: Verification,
  change: Change,
): Promise<ConnectionRow> {
  const isOther = sql`${connections.verification} IS NOT ${JSON.stringify(verification)}`
  const set = db
    .update(connections)
    .set({ verification, version: nextVersion })
    .where(and(liveConnections(project_id, id), eq(connections.vendor, 'hmac'), isOther))
    .returning({ id: connections.id })
  const entry = inboxConnectionEntry(project_id, id, 'connection.verification_set', { ...verification })
  const { rows } = await batch(db, {
    ...audited(db, change, entry, set),
    rows: findConnection(db, project_id, id),
  })
  const row = requireFound(rows, 'Connection')
  if (row.vendor !== 'hmac') throw unsupported(row)
  return row
}

export function unsupported({ vendor }: Pick<Connection, 'vendor'>): Fault {
  return new Fault(
    'verification_unsupported',
    `The service already knows how ${vendor} signs. You can only set the verification of connections of the vendor hmac.`,
  )
}
