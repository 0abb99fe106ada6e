import { nanoseconds } from '../billing/reduce'
import type { Results } from '../db/client'
import { Fault } from '../lib/fault'
import { settingsOf } from '../tenancy/settings'
import type { Catalog, ConsumerFacts, Item, SubscriptionFact } from './facts'
import { MAX_SOURCES, MAX_SUBSCRIPTION_ITEMS } from './limits'
import type { factsOf, ItemRow } from './read'

/** A subscription as it is read. */
export type SubscriptionRow = Omit<ItemRow, 'item'> & { items: Item[] }

type Found = Results<ReturnType<typeof factsOf>>

/** A consumer that was asked about. `id`: null if there is no such consumer. */
export type AskedConsumer = ConsumerFacts & { id: string | null }

/**
 * What {@link factsOf} read, as what entitlements are derived from.
 *
 * @param n how many consumers were asked about
 * @throws {Fault} `payload_too_large` if they have more subscriptions or grants than one call looks at
 */
export function factsIn(found: Found, n: number): { now: number; catalog: Catalog; holders: AskedConsumer[] } {
  if (found.grants.length > MAX_SOURCES) throw tooMuch()
  const [project] = found.project
  const catalog = { features: found.features, plans: found.plans, rules: settingsOf(project?.settings ?? null) }
  const subscriptions = Map.groupBy(subscriptionsIn(found.subscriptions), ({ place }) => place)
  const given = Map.groupBy(found.grants, ({ place }) => place)
  const who = new Map(found.who.map((one) => [one.place, one]))
  const holders = Array.from({ length: n }, (_, place) => ({
    id: who.get(place)?.id ?? null,
    state: who.get(place)?.state ?? null,
    subscriptions: (subscriptions.get(place) ?? []).map(subscriptionIn),
    grants: given.get(place) ?? [],
  }))
  return { now: project?.now ?? 0, catalog, holders }
}

/**
 * The subscriptions of rows for each of their items.
 *
 * @throws {Fault} `payload_too_large`
 */
export function subscriptionsIn(rows: readonly ItemRow[]): SubscriptionRow[] {
  const byName = Map.groupBy(rows, ({ place, vendor, id }) => `${place} ${vendor} ${id}`)
  if (rows.length > MAX_SUBSCRIPTION_ITEMS || byName.size > MAX_SOURCES) throw tooMuch()
  return [...byName.values()].flatMap((own) => {
    const items = own.map(({ item }) => item).filter((item) => item !== null)
    return own.slice(0, 1).map(({ item: _, ...row }) => ({ ...row, items }))
  })
}

export function subscriptionIn(row: SubscriptionRow): SubscriptionFact {
  const { past_due_period, past_due_since, cancel_at_period_end } = row
  const period_end = timeIn(row.period_end)
  // An event of an earlier period does not say since when the current one is unpaid.
  const isCurrent = past_due_since !== null && past_due_period === nanoseconds(row.period_start)
  return {
    vendor: row.vendor,
    id: row.id,
    status: row.status,
    ambiguous: row.ambiguous,
    event_id: row.event_id,
    items: row.items,
    livemode: row.livemode === null ? null : row.livemode === 1,
    period_start: timeIn(row.period_start),
    period_end,
    cancel_at: timeIn(row.cancel_at) ?? (cancel_at_period_end === 1 ? period_end : null),
    past_due_since: isCurrent ? timeIn(`${past_due_since}Z`) : null,
    updated_at: timeIn(row.updated_at),
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
    `These consumers have more than ${MAX_SOURCES} subscriptions or grants, or their subscriptions have more than ${MAX_SUBSCRIPTION_ITEMS} items. Ask about fewer consumers at a time.`,
  )
}
