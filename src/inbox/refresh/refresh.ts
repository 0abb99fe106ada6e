import type { CustomerKey } from '../../billing/customers/read'
import { findKnown, type Known } from '../../billing/read/known'
import { findLink } from '../../consumers/links'
import { batch, run } from '../../db/client'
import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { newId } from '../../lib/ids'
import { markRefused } from '../vendor-api/keys'
import { type Asked, ask, news } from './ask'
import { type AskKey, endFlight, findFlight, takeFlight } from './flight'
import { findSourceKeys, openSourceKey, type SourceKey, type SourceKeyRow } from './keys'
import { FRESH_FOR_MS, MAX_KNOWN, MAX_KNOWN_BYTES, MAX_ROUNDS, POLL_MS, REFRESH_WITHIN_MS } from './limits'
import { recordAndProcess } from './process'
import { inFlight } from './room'
import type { RefreshState } from './state'

/** How the refresh of a customer ended. `fetched_at`: when the vendor's answer was applied (ms); null if there was none. */
export type Refreshed = CustomerKey & { state: RefreshState; fetched_at: number | null; changed: boolean }

/**
 * Asks the vendor for a customer with its subscriptions and newest invoices, and applies what is new. It ends after
 * {@link REFRESH_WITHIN_MS} at the latest, whatever the vendor does.
 *
 * @throws {Fault} `api_key_missing` if no connection of the vendor has an API key; `not_found` if neither the vendor nor anybody
 *   here knows the customer; `consumer_erased`
 */
export async function refreshCustomer(rt: Runtime, projectId: string, { vendor, id }: CustomerKey): Promise<Refreshed> {
  const { db } = rt
  const key: AskKey = { project_id: projectId, vendor, id }
  const now = Date.now()
  const until = now + REFRESH_WITHIN_MS
  const token = newId('lse', now)
  const { link, taken, keys, known } = await batch(db, {
    link: findLink(db, projectId, key),
    taken: takeFlight(db, key, token, now),
    keys: findSourceKeys(db, projectId, vendor),
    known: findKnown(db, projectId, key, KNOWN),
  })
  if (keys.length === 0) throw keyMissing(vendor)
  if (link[0]?.erased)
    throw new Fault('consumer_erased', 'The consumer of this customer was erased. Nothing about it is fetched.')
  if (taken.length === 0) return waitForOther(rt, key, until)
  let ended: Ended = { state: 'stale', changed: false, unknown: false }
  try {
    ended = (await inFlight(projectId, until, () => askEach(rt, key, { keys, known, until }))) ?? ended
  } finally {
    rt.waitUntil(run(db, endFlight(db, key, token, ended)))
  }
  if (ended.unknown && known.length === 0) throw new Fault('not_found', `${vendor} has no customer with this id.`)
  const { state, changed } = ended
  return { vendor, id, state, changed, fetched_at: state === 'stale' ? null : Date.now() }
}

const KNOWN = { rows: MAX_KNOWN, bytes: MAX_KNOWN_BYTES }

type Ended = { state: RefreshState; changed: boolean; unknown: boolean }
type Context = { keys: readonly SourceKeyRow[]; known: readonly Known[]; until: number }

/** Asks with the key of each connection until one of the accounts knows the customer. */
async function askEach(rt: Runtime, customer: AskKey, { keys, known, until }: Context): Promise<Ended> {
  let unknown = false
  for (const row of keys) {
    const key = await openSourceKey(rt, row)
    if (!key) continue
    const asked = await ask(key, key.api.calls.ofCustomer(customer.id), until)
    if (asked.first?.outcome === 'key_refused') await markRefused(rt.db, row.key)
    unknown = asked.first?.outcome === 'gone'
    if (unknown || asked.first?.outcome === 'key_refused') continue
    return { ...(await applyRounds(rt, customer, { key, known, until, asked })), unknown: false }
  }
  return { state: 'stale', changed: false, unknown }
}

type Rounds = { key: SourceKey; known: readonly Known[]; until: number; asked: Asked }

/** Applies what is new. Where an event came in between, the answer is older than what is known, so the vendor is asked again. */
async function applyRounds(rt: Runtime, customer: AskKey, { key, until, ...first }: Rounds) {
  let { asked, known } = first
  let changed = false
  for (let round = 1; ; round++) {
    if (asked.answered === 0) return { state: 'stale' as const, changed }
    const did = await recordAndProcess(rt, key, await news(key, asked.objects, known))
    // A transaction also tells of its card, which a later one may have told of before.
    const effects = did.filter(({ kind }) => kind !== 'payment_card')
    changed ||= effects.some(({ change }) => change !== null)
    const overtaken = effects.some(({ result }) => result === 'superseded')
    const state = asked.missing > 0 || overtaken ? ('partial' as const) : ('fresh' as const)
    if (!overtaken || round === MAX_ROUNDS || Date.now() >= until) return { state, changed }
    known = await run(rt.db, findKnown(rt.db, customer.project_id, customer, KNOWN))
    asked = await ask(key, key.api.calls.ofCustomer(customer.id), until)
  }
}

/** For a project that has no API key of a vendor. */
export function keyMissing(vendor: string): Fault {
  return new Fault(
    'api_key_missing',
    `No connection of ${vendor} has an API key. Set one with PUT /platform/v1/billing/connections/{id}/api-key.`,
  )
}

/** Waits until the worker that asks for the customer is done. */
async function waitForOther({ db }: Runtime, key: AskKey, until: number): Promise<Refreshed> {
  const since = Date.now() - FRESH_FOR_MS
  for (;;) {
    const now = Date.now()
    const [flight] = await run(db, findFlight(db, key))
    const { vendor, id } = key
    const done_at = flight?.done_at ?? 0
    if (done_at >= since) return { vendor, id, state: flight?.ended ?? 'partial', changed: false, fetched_at: done_at }
    if (!flight || flight.lease_until <= now || now >= until)
      return { vendor, id, state: 'stale', changed: false, fetched_at: null }
    await scheduler.wait(POLL_MS)
  }
}
