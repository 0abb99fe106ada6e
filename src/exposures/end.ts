import { sql } from 'drizzle-orm'
import { type ExposedKey, exposedKeysRevoked, exposedSecret, findExposedKeys, hasSecret } from '../api-keys/exposed'
import { auditedFrom, type Change } from '../audit/store'
import { batch } from '../db/client'
import {
  type ExposedDevice,
  exposedDevicesRevoked,
  exposedPrefix,
  findExposedDevices,
  isLiveToken,
  withExposed,
} from '../devices/exposed'
import type { Runtime } from '../env'
import { newId } from '../lib/ids'
import { saysExposed } from '../notices/exposed'
import { MAX_DEVICE_NOTICES } from '../notices/limits'
import { hasRoomFor, isNoticeOpen, noticesOpened } from '../notices/open'
import type { NoticeFacts } from '../notices/schema'
import { notices } from '../notices/schema'
import { settingsOf } from '../tenancy/settings'

/** A secret of ours that was found somewhere, by its hash. */
export type Reported = { hash: string; source: string | null; url: string | null }

/** An API key or a device to end, or only to tell of. `audit`: the id of the entry that says so. */
type Exposed = {
  type: 'api_key' | 'device'
  project_id: string
  id: string
  hash: string
  ends: boolean
  action: string
  details: Record<string, unknown>
  facts: NoticeFacts
  audit: string
}

/**
 * Ends the API keys and the devices of a store whose secrets were found: in one transaction, if they are still live with these secrets,
 * with an audit row and a notice for each. What is no longer live stays as it is.
 *
 * @param rt in the store
 * @returns the hashes of secrets that there are or were
 */
export async function endInStore(rt: Runtime, reported: readonly Reported[], change: Change): Promise<string[]> {
  const { db, now } = rt
  const hashes = reported.map(({ hash }) => hash)
  const { keys, retired, devices } = await batch(db, {
    ...findExposedKeys(db, hashes),
    devices: findExposedDevices(db, hashes),
  })
  // An object is ended once, and only told of once for each of its secrets.
  const exposed = new Map<string, Exposed>()
  for (const one of reported) {
    const found = exposedOf(one, { keys, devices }, now)
    const key = found?.ends ? found.id : one.hash
    if (found && !exposed.has(key)) exposed.set(key, found)
  }
  if (exposed.size > 0) await endAll(rt, [...exposed.values()], change)
  const live = [...keys, ...devices.map(({ token_hash: hash, ...device }) => ({ ...device, hash }))]
  const known = live.flatMap(({ hash, pending_hash, previous_hash }) => [hash, pending_hash, previous_hash])
  return [...known, ...retired.map(({ hash }) => hash)].filter((hash) => hash !== null)
}

type Found = { keys: readonly ExposedKey[]; devices: readonly ExposedDevice[] }

/** What a report is about; null if its secret does not work. */
function exposedOf({ hash, source, url }: Reported, { keys, devices }: Found, now: number): Exposed | null {
  for (const key of keys) {
    const shown = exposedSecret(key, hash, now)
    if (!shown) continue
    const ends = settingsOf(key.settings).on_exposure === 'revoke'
    const { id, project_id, name } = key
    const facts = { object: 'api_key', name, ...shown, ended: ends, source, url }
    return exposed({ type: 'api_key', id, project_id, hash, ends, details: shown, facts }, now)
  }
  const device = devices.find((one) => isLiveToken(one, hash, now))
  if (!device) return null
  const ends = settingsOf(device.settings).on_exposure === 'revoke'
  const { id, project_id, consumer_id: consumer } = device
  const facts = { object: 'device', consumer, token_prefix: exposedPrefix(device, hash), ended: ends, source, url }
  return exposed({ type: 'device', id, project_id, hash, ends, details: { consumer }, facts }, now)
}

function exposed(of: Omit<Exposed, 'action' | 'audit'>, now: number): Exposed {
  const audit = newId('aud', now)
  if (!of.ends) return { ...of, audit, action: `${of.type}.exposed` }
  return { ...of, audit, action: `${of.type}.revoked`, details: { ...of.details, exposed: true } }
}

/** One of them, in the statements below. */
const each = (name: keyof Exposed) => sql`j.value ->> ${sql.raw(`'${name}'`)}`
const json = (name: keyof Exposed) => sql`j.value -> ${sql.raw(`'$.${name}'`)}`

async function endAll({ db, now }: Runtime, all: readonly Exposed[], change: Change): Promise<void> {
  const list = sql`json_each(${JSON.stringify(all)}) j`
  const consumer = sql`j.value ->> '$.details.consumer'`
  const ofDevice = withExposed({ project_id: each('project_id'), consumer, id: each('id'), hash: each('hash') })
  const isLive = sql`CASE ${each('type')} WHEN 'api_key' THEN ${hasSecret(each('id'), each('hash'))}
    ELSE EXISTS (SELECT 1 FROM (SELECT 1) CROSS JOIN ${ofDevice}) END`
  // A customer can report any number of own devices. They must leave room for what else the team is to learn.
  const ofDevices = sql`SELECT 1 FROM ${notices} INDEXED BY notices_open WHERE ${notices.project_id} = ${each('project_id')}
    AND ${notices.closed_at} IS NULL AND ${notices.kind} = 'key_exposed' AND ${notices.facts} ->> '$.object' = 'device'
    LIMIT ${MAX_DEVICE_NOTICES}`
  const hasRoomForDevices = sql`(SELECT count(*) FROM (${ofDevices})) < ${MAX_DEVICE_NOTICES}`
  const matter = { project_id: each('project_id'), kind: sql`'key_exposed'`, object_id: each('id') }
  const canTell = sql`(${each('type')} = 'api_key' OR ${hasRoomForDevices} OR ${isNoticeOpen(matter)})`
  // Whether the statement after it opens a notice: one that is open and says the same, or too many, make none.
  const isTold = sql`${canTell} AND ${hasRoomFor(matter)} AND NOT ${isNoticeOpen(matter, saysExposed(json('facts')))}`
  await batch(
    db,
    {
      audited: auditedFrom(
        db,
        change,
        { action: '', object_type: '', object_id: '' },
        {
          taken: {
            id: each('audit'),
            project_id: each('project_id'),
            action: each('action'),
            object_type: each('type'),
            object_id: each('id'),
            details: json('details'),
          },
          from: sql`FROM ${list} WHERE ${isLive} AND (${each('ends')} OR (${isTold}))`,
        },
      ),
      told: noticesOpened(
        db,
        { ...matter, facts: json('facts') },
        sql`FROM ${list} WHERE ${isLive} AND ${canTell}`,
        now,
      ),
      keys: exposedKeysRevoked(
        db,
        sql`(SELECT ${each('id')} FROM ${list} WHERE ${each('type')} = 'api_key' AND ${each('ends')} AND ${isLive})`,
        now,
      ),
      devices: exposedDevicesRevoked(
        db,
        sql`FROM ${list} CROSS JOIN ${ofDevice} WHERE ${each('type')} = 'device' AND ${each('ends')}`,
        now,
      ),
    },
    { idempotent: true }, // the second time, nothing is live, or its notice says so
  )
}
