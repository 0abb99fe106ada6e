import type { Context } from 'hono'
import type { Runtime } from '../../env'
import { addressOf } from '../../http/address'
import { readBytes, requireDeclaredSize } from '../../http/body'
import type { HttpEnv } from '../../http/context'
import { failuresBySource } from '../../http/failures'
import { limit } from '../../http/rate-limit'
import { Fault } from '../../lib/fault'
import { storeOfConnection } from '../../lib/ids'
import type { VendorDelivery } from '../../vendors/vendor'
import { holdRefused } from '../diagnoses/held'
import { isRemembered, type Known, type LiveConnection, remembered, reread } from './known-connections'
import { MAX_DELIVERY_BYTES, REREAD_EVERY } from './limits'
import { noteSecretUse, type Receipt, record } from './record'
import { countRefusal } from './refusals'
import { type Unverified, unknownConnection, verify } from './verify'

/** Deliveries to ids that no connection ever had. One to a connection that was deleted is its vendor's, and harmless. */
const strangers = failuresBySource(
  'unknown_connection',
  'Too many deliveries to unknown connections from this address.',
)

/**
 * Receives one delivery: cheap checks, look up the connection, read the body, verify, record, answer. A delivery that gets
 * a receipt is recorded, or safe in the Queue while the database is out.
 *
 * There are at most two passes. The first uses the connection that this isolate remembers. If it fails, the memory may
 * be out of date, so the second pass uses the connection as the database has it now.
 *
 * @throws {Fault} an error that the route lists, or `database_unavailable`
 */
export async function receive(c: Context<HttpEnv>): Promise<Receipt> {
  const id = c.req.param('connection_id') ?? ''
  const rt = enter(c, id)
  const known = await lookUp(c, rt, id)
  const delivery = await take(c, rt, id)
  const first = await pass(rt, known.connection, delivery)
  if (first.receipt) return first.receipt
  // Junk can cause any number of refusals, so those cost a read a second at most. A change is always worth a read.
  const fresh = await reread(rt, id, known, first.refused ? REREAD_EVERY : 0)
  const second = fresh === known ? first : await pass(rt, fresh.connection, delivery)
  if (second.receipt) return second.receipt
  if (!second.refused)
    throw new Fault(
      'database_unavailable',
      'The connection changed while the delivery was being recorded. Try again in a few seconds.',
    )
  const { connection } = fresh
  if (connection) {
    if (second.signature) holdRefused(rt.store, { connection, delivery, address: addressOf(c), ...second.signature })
    countRefusal(rt, connection, second.refused.fault)
  }
  throw second.refused
}

/** The outcome of a pass. With neither a receipt nor a refusal, the connection has changed in the database. */
type Outcome = { receipt?: Receipt | null } & Partial<Unverified>

async function pass(rt: Runtime, connection: LiveConnection | null, delivery: VendorDelivery): Promise<Outcome> {
  const verified = await verify(rt, connection, delivery)
  if ('refused' in verified) return verified
  const receipt = await record(rt, verified, delivery)
  if (receipt) noteSecretUse(rt, verified)
  return { receipt }
}

/** The request's runtime at the store that the id names. No I/O. */
function enter(c: Context<HttpEnv>, id: string): Runtime {
  const store = storeOfConnection(id)
  const rt = store === null ? null : c.get('rt').at(store)
  if (!rt) throw unknownConnection()
  c.set('rt', rt)
  return rt
}

/** The connection of a delivery, after the checks that need neither its body nor the database. */
async function lookUp(c: Context<HttpEnv>, rt: Runtime, id: string): Promise<Known> {
  const encoding = c.req.header('Content-Encoding')?.trim().toLowerCase()
  if (encoding && encoding !== 'identity') {
    throw new Fault('unsupported_encoding', 'Send the body without a Content-Encoding: the signature covers its bytes.')
  }
  requireDeclaredSize(c.req.raw, MAX_DELIVERY_BYTES)
  const address = addressOf(c)
  // A vendor sends for all tenants from a few addresses: ids that a neighbour invents must not shut out a connection.
  if (!isRemembered(id)) strangers.refuseBlocked(address, rt.now)
  await limit(rt.limits, 'ingest', `${id}:${address}`, 'Too many deliveries to this connection.')
  const known = await remembered(rt, id, () => strangers.count(rt, address))
  const surface = c.get('surface')
  if (!known.connection || (surface && surface.project_id !== known.connection.project_id)) throw unknownConnection()
  return known
}

async function take(c: Context<HttpEnv>, rt: Runtime, id: string): Promise<VendorDelivery> {
  const bytes = await readBytes(c.req.raw, MAX_DELIVERY_BYTES, [id, addressOf(c)])
  const { origin, pathname } = new URL(c.req.url)
  return { headers: c.req.raw.headers, bytes, url: origin + pathname, now: rt.now }
}
