import { batch, run } from '../../../db/client'
import { type DeliveryRow, listDeliveries, listResends, listRuns, type ResendRow } from '../../../endpoints/deliveries'
import { type EndpointRow, findEndpoint } from '../../../endpoints/endpoint'
import { endpointOf } from '../../../endpoints/named'
import type { KeptAttempt } from '../../../followers/schema'
import { projectOf } from '../../../http/auth'
import { listConnectionNames } from '../../../inbox/connections/connection'
import { requireFound } from '../../../lib/fault'
import type { Visit } from '../../page'
import { namesOf } from '../events/store'

/** Attempts and deliveries that the page of an endpoint shows. */
export const SHOWN = 50
/** Resends that it shows. */
const RESENDS_SHOWN = 10
/** Rows of the log that it reads for them: each has up to a hundred attempts and 32 KB of answers. */
const RUNS_READ = 10

/** An endpoint with its newest attempts and with what it has not taken. */
export type ShownEndpoint = {
  row: EndpointRow
  attempts: KeptAttempt[]
  /** What came of the test that the address names; null if it names none. */
  test: KeptAttempt | null
  deliveries: DeliveryRow[]
  resends: ResendRow[]
  /** Of the users and API keys that created it and added its secrets, by id. */
  names: ReadonlyMap<string, string>
  /** Those that a relay names. */
  connections: { id: string; name: string }[]
}

/** A connection whose events a relay can send. */
export type Choosable = Awaited<ReturnType<typeof readChoosable>>[number]

/** The connections that the form of an endpoint shows. */
export function readChoosable(c: Visit) {
  const { db } = c.get('rt')
  return run(db, listConnectionNames(db, projectOf(c.get('actor'))))
}

export type EditedEndpoint = { row: EndpointRow; connections: Choosable[] }

/** Reads what the form that changes an endpoint shows. @throws {Fault} `not_found` */
export async function readEditedEndpoint(c: Visit): Promise<EditedEndpoint> {
  const { db } = c.get('rt')
  const { project_id, endpoint_id } = addressedEndpoint(c)
  const { rows, connections } = await batch(db, {
    rows: findEndpoint(db, project_id, endpoint_id),
    connections: listConnectionNames(db, project_id),
  })
  return { row: requireFound(rows, 'Webhook endpoint'), connections }
}

/** The endpoint that the path names. */
export const addressedEndpoint = (c: Visit) => endpointOf(c, c.req.param('id') ?? '')

/** @throws {Fault} `not_found` */
export async function readEndpoint(c: Visit): Promise<EndpointRow> {
  const { project_id, endpoint_id } = addressedEndpoint(c)
  const { rows } = await batch(c.get('rt').db, { rows: findEndpoint(c.get('rt').db, project_id, endpoint_id) })
  return requireFound(rows, 'Webhook endpoint')
}

/** Reads what the page of an endpoint shows, then the names of people and keys. @throws {Fault} `not_found` */
export async function readShownEndpoint(c: Visit): Promise<ShownEndpoint> {
  const { db } = c.get('rt')
  const of = addressedEndpoint(c)
  const { rows, runs, deliveries, resends, connections } = await batch(db, {
    rows: findEndpoint(db, of.project_id, of.endpoint_id),
    runs: listRuns(db, of, null, RUNS_READ),
    deliveries: listDeliveries(db, of, { before: null, take: SHOWN }),
    resends: listResends(db, of, RESENDS_SHOWN),
    connections: listConnectionNames(db, of.project_id),
  })
  const row = requireFound(rows, 'Webhook endpoint')
  const names = await namesOf(c.get('rt'), of.project_id, [
    row.created_by,
    ...row.secrets.map(({ added_by }) => added_by),
  ])
  const attempts = runs.flatMap(({ log }) => log.toReversed()).slice(0, SHOWN)
  const test = runs.find(({ id }) => id === c.req.query('test'))?.log[0] ?? null
  const ofRelay = connections.filter(({ id }) => row.relay?.connection_ids?.includes(id))
  return { row, attempts, test, deliveries, resends, names, connections: ofRelay }
}
