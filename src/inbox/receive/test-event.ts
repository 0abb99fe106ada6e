import { sql } from 'drizzle-orm'
import { auditedEach, type Change } from '../../audit/store'
import { batch, run } from '../../db/client'
import type { Runtime } from '../../env'
import { utf8 } from '../../lib/crypto'
import { Fault, notFound } from '../../lib/fault'
import { idTime } from '../../lib/ids'
import { findSettings } from '../../tenancy/project'
import { settingsOf } from '../../tenancy/settings'
import { vendorOf } from '../../vendors'
import { connections } from '../connections/schema'
import { type LiveConnection, remembered, reread } from './known-connections'
import { record } from './record'
import { unreadableSecret, verify } from './verify'

type Asked = { project_id: string; id: string; name: string; url: string }

/** Why no test event is sent: the connection is in live mode, it has no signing secret, or we have no such event of its vendor. */
export type NoTest = 'live' | 'no_secret' | 'no_sample'

/**
 * Sends a test event to a connection in test mode: signs it with the connection's own secret, and receives it as a delivery of the
 * vendor. The audit entry comes first, so that no test event is without one.
 *
 * @param asked.name of the test event
 * @param asked.url the ingest URL, which some vendors sign
 * @returns the id of the event, or why there is none
 * @throws {Fault} `not_found`, `connection_disabled`, `encryption_key_unavailable`, `database_unavailable`
 */
export async function sendTestEvent(rt: Runtime, asked: Asked, change: Change): Promise<{ event_id: string } | NoTest> {
  const { project_id, id, name, url } = asked
  // What this isolate remembers may be a minute old, so the mode is read again.
  const known = await remembered(rt, id, async () => {})
  const [{ connection }, [project]] = await Promise.all([
    reread(rt, id, known, 0),
    run(rt.db, findSettings(rt.db, project_id)),
  ])
  if (connection?.project_id !== project_id) throw notFound('Connection')
  const samples = vendorOf(connection.vendor)?.samples
  if (connection.livemode) return 'live'
  if (!samples || !Object.hasOwn(samples.list, name)) return 'no_sample'
  const [secret] = connection.secrets
  if (!secret && connection.unreadable) throw unreadableSecret()
  if (!secret) return 'no_secret'
  const [consumer_key = ''] = settingsOf(project?.settings ?? null).consumer_keys
  // Every test event says the same of when its objects were made: when the connection was.
  const of = { seed: id.replace(/^con_/, ''), since: idTime(id), now: rt.now, consumer_key }
  const text = samples.body(name, of)
  const headers = new Headers(await samples.sign(text, secret.text, rt.now))
  const delivery = { headers, bytes: utf8(text), url, now: rt.now }
  const verified = await verify(rt, connection, delivery)
  if ('refused' in verified) throw verified.refused
  await batch(rt.db, { audit: auditEntry(rt, connection, { name, type: samples.list[name]?.type }, change) })
  const receipt = await record(rt, verified, delivery)
  if (!receipt) throw new Fault('database_unavailable', 'The connection changed meanwhile. Try again in a few seconds.')
  return { event_id: receipt.event_ids[0] ?? '' }
}

/** Only while the connection is as it was read, as the event itself: see fence.ts. */
function auditEntry(
  { db }: Runtime,
  { project_id, id, version }: LiveConnection,
  details: { name: string; type: string | undefined },
  change: Change,
) {
  const entry = { project_id, action: 'connection.test_event_sent', object_type: 'connection', details }
  const objects = sql`(SELECT ${connections.id} FROM ${connections} WHERE ${connections.id} = ${id} AND ${connections.version} = ${version})`
  return auditedEach(db, change, entry, { objects, most: 1 })
}
