import { batch, run } from '../../db/client'
import type { Runtime } from '../../env'
import { Fault, requireFound } from '../../lib/fault'
import { vendorOf } from '../../vendors'
import type { EndpointFacts, VendorEndpoints } from '../../vendors/endpoints'
import { type ConnectionRow, findConnection } from '../connections/connection'
import type { ConnectionPlace } from '../of-connection'
import { ifOpened } from '../refresh/keys'
import { ifVendorAnswers, type VendorAnswer } from '../vendor-api/fetch-vendor'
import { findVendorKey, markRefused, openVendorKey, type VendorKeyRow } from '../vendor-api/keys'
import { apiKeyMissing } from '../vendor-api/missing'
import type { Lane } from '../vendor-api/turn'
import { lacksPermission, listVendorEndpoints } from './ask'
import { endpointFindings } from './findings'
import { CHECKED_AGAIN, CHECKED_EVERY } from './limits'
import { expectedOf, isPublicUrl, requireEndpoints } from './open'
import type { EndpointResult } from './schema'
import { endpointChecked, endpointNotDue, endpointUnchecked } from './store'

/** The stored result of a check. `answer`: the vendor's answer; null if there was none. */
type Checked =
  | { is: 'checked'; found: EndpointResult & { facts: EndpointFacts | null } }
  | { is: 'refused'; answer: VendorAnswer | null }

/** What a check of a connection's endpoint needs. */
type Checking = { connection: ConnectionRow; key: VendorKeyRow; api: VendorEndpoints; url: string; lane: Lane }

/**
 * Checks the endpoint of a connection with its API key, because somebody asks, and keeps what was found.
 *
 * @throws {Fault} `not_found`, `vendor_endpoint_unsupported`, `ingest_url_not_public`, `api_key_missing`, `api_key_lacks_permission`,
 *   `vendor_failed`, `encryption_key_unavailable`
 */
export async function checkWhenAsked(rt: Runtime, of: ConnectionPlace, url: string) {
  const { connections, keys } = await read(rt, of)
  const connection = requireFound(connections, 'Connection')
  const api = requireEndpoints(connection.vendor)
  const { vendor } = api
  const [key] = keys
  if (api.reading === undefined)
    throw new Fault(
      'vendor_endpoint_unsupported',
      `The service stores no API key of ${vendor}. To check the endpoint, POST a key to this path with \`dry_run\`: it is not stored.`,
    )
  if (!key) throw apiKeyMissing(`The connection has no API key, so the service cannot query ${vendor}.`)
  if (key.state !== 'ok') throw apiKeyMissing("The vendor has refused the connection's API key.")
  if (!isPublicUrl(url))
    throw new Fault('ingest_url_not_public', `${vendor} cannot reach the ingest URL, so there is nothing to compare.`)
  const checked = await check(rt, { connection, key, api, url, lane: 'waited' })
  if (checked.is === 'checked') return { ...checked.found, vendor }
  const { outcome, status } = checked.answer ?? {}
  if (outcome === 'key_refused') throw apiKeyMissing("The vendor has refused the connection's API key.")
  if (outcome === 'permission_missing') throw lacksPermission(vendor, api.reading ?? null)
  throw new Fault('vendor_failed', status ? `${vendor} answered with ${status}.` : `${vendor} did not answer.`)
}

/** Checks the endpoint of a connection when its check is due. If it cannot be checked, the service tries again later. */
export async function checkWhenDue(rt: Runtime, of: ConnectionPlace): Promise<void> {
  const { connections, keys } = await read(rt, of)
  const [connection] = connections
  const [key] = keys
  const api = connection && vendorOf(connection.vendor)?.endpoints
  if (!connection || !api || key?.state !== 'ok') return void (await run(rt.db, endpointNotDue(rt.db, of)))
  const { publicOrigin } = rt.settings
  const url = `${publicOrigin ?? ''}/ingest/${connection.id}`
  // A disabled connection accepts nothing, so its endpoint cannot be wrong.
  if (connection.status === 'disabled' || !isPublicUrl(url)) {
    await run(rt.db, endpointUnchecked(rt.db, of, null, rt.now + CHECKED_EVERY))
    return
  }
  await check(rt, { connection, key, api, url, lane: 'background' })
}

function read({ db }: Runtime, of: ConnectionPlace) {
  return batch(db, {
    connections: findConnection(db, of.project_id, of.connection_id),
    keys: findVendorKey(db, of),
  })
}

async function check(rt: Runtime, { connection, key, api, url, lane }: Checking): Promise<Checked> {
  const { project_id, id: connection_id, vendor } = connection
  const of = { project_id, connection_id }
  const opening = openVendorKey(rt, { key, vendor }, lane)
  const owner = { livemode: connection.livemode, name: null }
  const opened = lane === 'waited' ? await opening : await ifOpened(opening)
  const listed =
    opened &&
    (await ifVendorAnswers(() =>
      listVendorEndpoints({ api, owner, host: opened.api, key: opened.secret, turn: opened.turn }, url),
    ))
  if (listed && 'endpoints' in listed) {
    const found = endpointFindings(api, listed.endpoints, await expectedOf(rt, connection, url), listed.thin)
    await run(rt.db, endpointChecked(rt.db, of, found, rt.now))
    return { is: 'checked', found }
  }
  const answer = listed?.refusal ?? null
  if (answer?.outcome === 'key_refused') {
    await markRefused(rt.db, key)
    await run(rt.db, endpointNotDue(rt.db, of))
  } else if (answer?.outcome === 'permission_missing')
    await run(rt.db, endpointUnchecked(rt.db, of, 'permission_missing', rt.now + CHECKED_EVERY))
  else await run(rt.db, endpointUnchecked(rt.db, of, 'vendor_failed', rt.now + CHECKED_AGAIN))
  return { is: 'refused', answer }
}
