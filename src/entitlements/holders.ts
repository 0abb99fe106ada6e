import { periodOf } from '../billing/past-due'
import type { Results } from '../db/client'
import { Fault } from '../lib/fault'
import { settingsOf } from '../tenancy/settings'
import type { Json } from '../vendors/lib/json'
import { isBack } from '../vendors/purchase'
import {
  type BoughtItem,
  type Catalog,
  type ConsumerFacts,
  type IndexedCatalog,
  indexed,
  type PurchaseFact,
  type SubscriptionFact,
} from './facts'
import type { ItemRow } from './holdings'
import { MAX_DERIVED, MAX_SOURCES, MAX_SUBSCRIPTION_ITEMS } from './limits'
import type { Extent, factsOf } from './read'
import { reversalOf } from './reversal'

/** A subscription or a purchase as it is read. */
export type HoldingRow = Omit<ItemRow, 'item' | 'leads'> & { items: BoughtItem[] }

type Found = Results<ReturnType<typeof factsOf>>

/** A consumer that was asked about. `id`: null if there is no such consumer. */
export type AskedConsumer = ConsumerFacts & { id: string | null }

/**
 * What {@link factsOf} read, as what entitlements are derived from.
 *
 * @param n how many consumers were asked about
 * @throws {Fault} `payload_too_large` if they have more subscriptions, purchases or grants than one call looks at
 */
export function factsIn(found: Found, n: number): { now: number; catalog: IndexedCatalog; holders: AskedConsumer[] } {
  if (found.grants.length > MAX_SOURCES) throw tooMuch()
  const [project] = found.project
  const rules = settingsOf(project?.settings ?? null)
  const plans = found.plans.map(({ features, ...plan }) => ({ ...plan, features: features ?? {} }))
  const catalog = indexed({ features: found.features, plans, rules })
  const holdings = Map.groupBy(holdingsIn(found.holdings), ({ place }) => place)
  const given = Map.groupBy(found.grants, ({ place }) => place)
  const who = new Map(found.who.map((one) => [one.place, one]))
  const holders = Array.from({ length: n }, (_, place) => ({
    id: who.get(place)?.id ?? null,
    state: who.get(place)?.state ?? null,
    ...holdingsAs(holdings.get(place) ?? []),
    grants: given.get(place) ?? [],
  }))
  requireDerivable(catalog, holders)
  return { now: project?.now ?? 0, catalog, holders }
}

/** @throws {Fault} `payload_too_large` if so many features come from so much that one call does not derive them */
export function requireDerivable({ features }: Catalog, holders: readonly ConsumerFacts[]): void {
  const sources = holders.reduce((sum, holder) => sum + countSources(holder), 0)
  if (features.length * sources <= MAX_DERIVED) return
  const detail = `One call cannot evaluate ${features.length} features from ${sources} subscription items, purchase items and grants.`
  throw new Fault('payload_too_large', `${detail} Check fewer features at a time.`)
}

/** How many items of subscriptions and purchases, and grants, a consumer has. */
export function countSources({ subscriptions, purchases, grants }: ConsumerFacts): number {
  return [...subscriptions, ...purchases].reduce((sum, { items }) => sum + items.length, grants.length)
}

/**
 * What {@link factsOf} has not read and the answer depends on, because it is large: the plans that the consumers have, and the bytes
 * of it all; null if nothing is lacking, and if it is too much for an answer in any case.
 */
export function lacking({ project, plans, holdings, grants }: Found): { plans: string[]; bytes: number } | null {
  if (grants.length > MAX_SOURCES || holdings.length > MAX_SUBSCRIPTION_ITEMS) return null
  const { default_plan } = settingsOf(project[0]?.settings ?? null)
  const own = [...holdings.map(({ item }) => item?.mapped?.[0]), ...grants.map(({ plan_id }) => plan_id)]
  const had = new Set([...own, default_plan])
  const needed = plans.filter(({ id }) => had.has(id))
  const values = grants.reduce((sum, grant) => sum + grant.bytes, 0)
  if (values === 0 && needed.every(({ features }) => features !== null)) return null
  return { plans: needed.map(({ id }) => id), bytes: needed.reduce((sum, { bytes }) => sum + bytes, values) }
}

/** Reads what facts lack: of a large catalog, only the plans that the consumers have. */
export async function readWhole<F extends Found>(found: F, read: (extent: Extent) => Promise<F>): Promise<F> {
  let whole = found
  // Everything is read again, so that nothing comes from before a change and the rest from after it.
  for (let more = lacking(whole); more !== null; more = lacking(whole)) whole = await read({ plans: more.plans })
  return whole
}

/**
 * The subscriptions and purchases of rows for each of their items.
 *
 * @throws {Fault} `payload_too_large`
 */
export function holdingsIn(rows: readonly ItemRow[]): HoldingRow[] {
  const byName = Map.groupBy(rows, ({ place, kind, vendor, id }) => `${place} ${kind} ${vendor} ${id}`)
  if (rows.length > MAX_SUBSCRIPTION_ITEMS || byName.size > MAX_SOURCES) throw tooMuch()
  return [...byName.values()].flatMap((own) => {
    const items = own.flatMap(({ item }) => {
      if (item === null) return []
      const { mapped, returned, price = null, variant = null, product = null, quantity } = item
      const [plan_id, lasts, again] = mapped ?? [null, null, null]
      return [{ price, variant, product, quantity, plan_id, lasts, again, returned: returned ?? 0 }]
    })
    const first = own.find(({ leads }) => leads === 1)
    if (!first) return []
    const { item: _, leads: __, ...row } = first
    return [{ ...row, items }]
  })
}

/** Subscriptions and purchases as facts. */
export function holdingsAs(rows: readonly HoldingRow[]): Pick<ConsumerFacts, 'subscriptions' | 'purchases'> {
  return {
    subscriptions: rows.filter(({ kind }) => kind === 'subscription').map(subscriptionIn),
    purchases: rows.filter(({ kind }) => kind === 'purchase').map(purchaseIn),
  }
}

function purchaseIn(row: HoldingRow): PurchaseFact {
  const { vendor, id, customer, status, ambiguous, event_id, items, livemode } = row
  const standing = row.refunds?.filter(({ status }) => isBack(status)) ?? []
  const revoking = standing.findLast((one) => one.revokes_access === true)
  const refund = revoking ?? standing.at(-1)
  const dispute =
    row.disputes?.findLast((one) => one.state === 'lost') ?? row.disputes?.findLast((one) => one.state === 'open')
  const named = (one: Json) => ({ id: String(one.id), event_id: String(one.event_id) })
  return {
    vendor,
    id,
    customer,
    status,
    ambiguous,
    event_id,
    items,
    livemode: livemode === null ? null : livemode === 1,
    paid_at: timeIn(row.paid_at),
    refund: refund ? { ...named(refund), revokes: revoking !== undefined } : null,
    dispute: dispute ? named(dispute) : null,
  }
}

function subscriptionIn(row: HoldingRow): SubscriptionFact {
  const { past_due_period, past_due_since, cancel_at_period_end } = row
  const period_end = timeIn(row.period_end)
  // An event of an earlier period does not say since when the current one is unpaid.
  const isCurrent = past_due_since !== null && past_due_period === periodOf(row.period_start, row.period_end)
  return {
    vendor: row.vendor,
    id: row.id,
    customer: row.customer,
    status: row.status,
    ambiguous: row.ambiguous,
    event_id: row.event_id,
    items: row.items,
    livemode: row.livemode === null ? null : row.livemode === 1,
    period_start: timeIn(row.period_start),
    period_end,
    cancel_at: timeIn(row.cancel_at) ?? (cancel_at_period_end === 1 ? period_end : null),
    ended_at: timeIn(row.ended_at),
    past_due_since: isCurrent ? timeIn(`${past_due_since}Z`) : null,
    updated_at: timeIn(row.updated_at),
    reversal: reversalOf(row.invoice),
  }
}

/** A vendor's time in milliseconds. */
function timeIn(text: string | null): number | null {
  const ms = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? null : ms
}

/** What reads facts, or null if they are too much for one answer. */
export function unlessTooMuch<T>(facts: () => T): T | null {
  try {
    return facts()
  } catch (error) {
    if (error instanceof Fault && error.fault === 'payload_too_large') return null
    throw error
  }
}

export function tooMuch(): Fault {
  return new Fault(
    'payload_too_large',
    `These consumers have more than ${MAX_SOURCES} subscriptions and purchases, more than ${MAX_SOURCES} grants, or more than ${MAX_SUBSCRIPTION_ITEMS} items. Ask about fewer consumers at a time.`,
  )
}
