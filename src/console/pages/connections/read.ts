import { and, eq } from 'drizzle-orm'
import { batch } from '../../../db/client'
import { countHeld, type RefusedFor, readMinutes, readRefusals } from '../../../health/read'
import { type Traffic, trafficOf } from '../../../health/traffic'
import { projectOf } from '../../../http/auth'
import { type ConnectionRow, findConnection, listConnections } from '../../../inbox/connections/connection'
import { connections } from '../../../inbox/connections/schema'
import { MAX_DIAGNOSES } from '../../../inbox/diagnoses/limits'
import { type DiagnosisRow, listDiagnoses } from '../../../inbox/diagnoses/store'
import { type EventRow, lastEventOf } from '../../../inbox/events/events'
import type { FormatRow } from '../../../inbox/formats/schema'
import { listFormats } from '../../../inbox/formats/store'
import { listRuns, type RunRow } from '../../../inbox/imports/runs'
import { listMutes, type MuteRow } from '../../../inbox/mutes/mutes'
import { findVendorKey, type VendorKeyRow } from '../../../inbox/vendor-api/keys'
import { findEndpointCheck, type VendorEndpointRow } from '../../../inbox/vendor-endpoints/store'
import { requireFound } from '../../../lib/fault'
import { DAY, HOUR, MINUTE } from '../../../lib/time'
import type { Visit } from '../../page'
import { namesOf } from '../events/store'
import { localSecret } from './local'

/** A connection with what it received: its newest event, its last hour, and what it refused in a day. */
export type ShownConnection = {
  row: ConnectionRow
  /** How many events it holds. */
  held: number
  event: EventRow | null
  hour: Traffic
  refusals: RefusedFor[]
  /** The muted causes of refusals. */
  mutes: MuteRow[]
  /** Why deliveries were refused, newest first. */
  diagnoses: DiagnosisRow[]
  /** The counts of fields in its events. */
  formats: FormatRow[]
  /** The key of the vendor's API; null if there is none. */
  key: VendorKeyRow | null
  /** The last check of the endpoint at the vendor; null if there was none. */
  checked: VendorEndpointRow | null
  /** The newest import; null if there was none. */
  run: RunRow | null
  /** See {@link localSecret}. */
  example: string | null
  /** Of the users and API keys that added its secrets and its key and muted causes, by id. */
  names: ReadonlyMap<string, string>
}

/** The connection that the path names. */
export function addressedConnection(c: Visit) {
  return { project_id: projectOf(c.get('actor')), id: c.req.param('id') ?? '' }
}

/** Reads what the page of a connection waits for, in one round trip. @throws {Fault} `not_found` */
export async function readArrivals(c: Visit): Promise<Omit<ShownConnection, 'names'>> {
  const { db, now } = c.get('rt')
  const { project_id, id } = addressedConnection(c)
  const to = Math.floor(now / MINUTE) + 1
  const { rows, held, events, minutes, refusals, mutes, diagnoses, formats, keys, checks, runs } = await batch(db, {
    rows: findConnection(db, project_id, id),
    held: countHeld(db, and(eq(connections.project_id, project_id), eq(connections.id, id))),
    events: lastEventOf(db, project_id, id),
    minutes: readMinutes(db, project_id, { from: to - HOUR / MINUTE, to }, id),
    refusals: readRefusals(db, project_id, { from: to - DAY / MINUTE, to }, id),
    mutes: listMutes(db, project_id, { kind: 'refused', connection_id: id }, now),
    diagnoses: listDiagnoses(db, { project_id, id }, null, MAX_DIAGNOSES),
    formats: listFormats(db, { project_id, connection_id: id }),
    keys: findVendorKey(db, { project_id, connection_id: id }),
    checks: findEndpointCheck(db, { project_id, connection_id: id }),
    runs: listRuns(db, { project_id, connection_id: id }, null, 1),
  })
  const row = requireFound(rows, 'Connection')
  return {
    row,
    held: held[0]?.n ?? 0,
    event: events[0] ?? null,
    hour: trafficOf(minutes),
    refusals,
    mutes,
    diagnoses,
    formats,
    key: keys[0] ?? null,
    checked: checks[0] ?? null,
    run: runs[0] ?? null,
    example: await localSecret(c, row),
  }
}

/** Reads what the page of a connection shows: {@link readArrivals}, then the names of people and keys. */
export async function readShownConnection(c: Visit): Promise<ShownConnection> {
  const arrivals = await readArrivals(c)
  const { row, key, mutes } = arrivals
  const added = [...row.secrets, ...(key ? [key] : [])].flatMap(({ added_by }) => added_by ?? [])
  const ids = [...added, ...mutes.map(({ muted_by }) => muted_by)]
  return { ...arrivals, names: await namesOf(c.get('rt'), addressedConnection(c).project_id, ids) }
}

/** A connection in the list, with what it received in the last hour. */
export type ListedConnection = ConnectionRow & { hour: Traffic }

/** Reads a page of the list, in one round trip. */
export async function readListed(c: Visit, before: string | null, limit: number): Promise<ListedConnection[]> {
  const { db, now } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const to = Math.floor(now / MINUTE) + 1
  const { rows, minutes } = await batch(db, {
    rows: listConnections(db, project, before, limit),
    minutes: readMinutes(db, project, { from: to - HOUR / MINUTE, to }, null),
  })
  const byConnection = Map.groupBy(minutes, ({ connection_id }) => connection_id)
  return rows.map((row) => ({ ...row, hour: trafficOf(byConnection.get(row.id) ?? []) }))
}
