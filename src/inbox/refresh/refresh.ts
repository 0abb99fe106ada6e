import type { CustomerKey } from '../../billing/customers/read'
import { findKnown, findKnownOf, type Known } from '../../billing/read/known'
import { findLink } from '../../consumers/links'
import { batch, run } from '../../db/client'
import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { newId } from '../../lib/ids'
import { vendorOf } from '../../vendors'
import { withoutGuest } from '../../vendors/guest'
import { apiKeyMissing } from '../vendor-api/missing'
import { askAccounts } from './accounts'
import { type Asked, ask, news } from './ask'
import { inFlight } from './at-once'
import { type AskKey, endFlight, findFlight, takeFlight } from './flight'
import { findSourceKeys, type SourceKey, type SourceKeyRow } from './keys'
import { FRESH_FOR_MS, KNOWN, MAX_ASKED_ROUNDS, POLL_MS, REFRESH_WITHIN_MS } from './limits'
import { recordAndProcess } from './process'
import type { RefreshState } from './state'

/** How the refresh of a customer ended. `fetched_at`: when the vendor's answer was applied (ms); null if there was none. */
export type Refreshed = CustomerKey & { state: RefreshState; fetched_at: number | null; changed: boolean }

/**
 * Asks the vendor for a customer with its subscriptions and newest invoices, and applies what is new. It ends within
 * {@link REFRESH_WITHIN_MS}, whatever the vendor does.
 *
 * @param freshFor how long (ms) the answer to an earlier refresh is good enough
 * @throws {Fault} `api_key_missing` if no connection of the vendor has an API key; `not_found` if neither the vendor nor anybody
 *   here knows the customer, or if it is a guest; `consumer_erased`
 */
export async function refreshCustomer(
  rt: Runtime,
  projectId: string,
  { vendor, id }: CustomerKey,
  freshFor = FRESH_FOR_MS,
): Promise<Refreshed> {
  if (withoutGuest(vendor, id) === null)
    throw new Fault('not_found', `A guest is not a customer of ${vendor}, so it cannot be refreshed.`)
  const { db } = rt
  const key: AskKey = { project_id: projectId, vendor, id }
  const now = Date.now()
  const until = now + REFRESH_WITHIN_MS
  const token = newId('lse', now)
  const { link, taken, keys, known } = await batch(db, {
    link: findLink(db, projectId, key),
    taken: takeFlight(db, key, { token, freshFor }, now),
    keys: findSourceKeys(db, projectId, vendor),
    known: findKnown(db, projectId, key, KNOWN),
  })
  if (keys.length === 0) throw keyMissing(vendor)
  if (link[0]?.erased)
    throw new Fault('consumer_erased', 'The consumer of this customer was erased. Nothing about it is fetched.')
  const unknownTo = () => {
    if (known.length === 0) throw new Fault('not_found', `${vendor} has no customer with this id.`)
  }
  if (taken.length === 0) return waitForOther(rt, key, { since: now - freshFor, until, unknownTo })
  let ended: Ended = { state: 'stale', changed: false, unknown: false }
  try {
    ended = (await inFlight(projectId, until, () => askAndApply(rt, key, { keys, known, until }))) ?? ended
  } finally {
    rt.waitUntil(run(db, endFlight(db, key, token, ended)))
  }
  if (ended.unknown) unknownTo()
  const { state, changed } = ended
  return { vendor, id, state, changed, fetched_at: state === 'stale' ? null : Date.now() }
}

type Ended = { state: RefreshState; changed: boolean; unknown: boolean }
type Context = { keys: readonly SourceKeyRow[]; known: readonly Known[]; until: number }

async function askAndApply(rt: Runtime, customer: AskKey, { keys, known, until }: Context): Promise<Ended> {
  const sources = known.map(({ event_id }) => event_id)
  const { best, unknown } = await askAccounts(
    rt,
    { project_id: customer.project_id, keys, sources, lane: 'waited' },
    (key) => ask(key, key.api.calls.ofCustomer(customer.id), until),
  )
  if (!best) return { state: 'stale', changed: false, unknown }
  return { ...(await applyRounds(rt, customer, { ...best, known, until })), unknown: false }
}

type Rounds = { key: SourceKey; known: readonly Known[]; until: number; asked: Asked }

/** Applies what is new. Where an event came in between, the answer is older than what is known, so the vendor is asked again. */
async function applyRounds(rt: Runtime, customer: AskKey, { key, until, ...first }: Rounds) {
  let { asked, known } = first
  let changed = false
  for (let round = 1; ; round++) {
    if (asked.answered === 0) return { state: round === 1 ? ('stale' as const) : ('partial' as const), changed }
    const all = [...known, ...(await notRead(rt, key, asked, known))]
    const { effects, whole } = await recordAndProcess(rt, key, await news(key, asked.objects, all))
    // A transaction also tells of its card, which a later one may have told of before.
    const own = effects.filter(({ kind }) => kind !== 'payment_card')
    changed ||= own.some(({ change }) => change !== null)
    const overtaken = own.some(({ result }) => result === 'superseded')
    const state = asked.missing > 0 || overtaken || !whole ? ('partial' as const) : ('fresh' as const)
    if (!overtaken || round === MAX_ASKED_ROUNDS || Date.now() >= until) return { state, changed }
    known = await run(rt.db, findKnown(rt.db, customer.project_id, customer, KNOWN))
    asked = await ask(key, key.api.calls.ofCustomer(customer.id), until)
  }
}

/**
 * Reads what is known of the objects of an answer, if the customer has more than were read before. Nobody knows whether the answer
 * contains that: it may have come in between. So it is compared with the answer, and the answer does not rank over it.
 */
async function notRead(rt: Runtime, { project_id, vendor }: SourceKey, { objects }: Asked, known: readonly Known[]) {
  const isFull = (kind: 'subscription' | 'invoice', most: number) =>
    known.filter((one) => one.kind === kind).length >= most
  const full = { subscription: isFull('subscription', KNOWN.subscriptions), invoice: isFull('invoice', KNOWN.invoices) }
  const keys = objects.flatMap(({ kind, object }) =>
    (kind === 'subscription' || kind === 'invoice') && full[kind] && !known.some(({ id }) => id === object.id)
      ? [{ project_id, kind, vendor_id: String(object.id), vendor }]
      : [],
  )
  if (keys.length === 0) return []
  return (await run(rt.db, findKnownOf(rt.db, keys))).map((one) => ({ ...one, rank: null }))
}

/** The fault of a project that has no API key for a vendor. */
export function keyMissing(vendor: string): Fault {
  return apiKeyMissing(`No active connection to ${vendorOf(vendor)?.api?.vendor ?? vendor} has an API key.`)
}

type Waiting = { since: number; until: number; unknownTo: () => void }

/** Waits until the worker that asks for the customer is done. */
async function waitForOther({ db }: Runtime, key: AskKey, { since, until, unknownTo }: Waiting): Promise<Refreshed> {
  const { vendor, id } = key
  const stale: Refreshed = { vendor, id, state: 'stale', changed: false, fetched_at: null }
  for (;;) {
    const now = Date.now()
    const [flight] = await run(db, findFlight(db, key))
    // The vendor did not know the customer: see endFlight.
    if (!flight) {
      unknownTo()
      return stale
    }
    const done_at = flight.done_at ?? 0
    if (done_at > since) return { vendor, id, state: flight.ended ?? 'partial', changed: false, fetched_at: done_at }
    if (flight.lease_until <= now || now >= until) return stale
    await scheduler.wait(POLL_MS)
  }
}
