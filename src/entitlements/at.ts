import { MAX_CUSTOMERS } from '../consumers/limits'
import { requireConsumer } from '../consumers/read'
import type { NamedConsumer } from '../consumers/ref'
import { batch, type Db, type Results, type Send } from '../db/client'
import type { Runtime } from '../env'
import { invalidField } from '../http/validate'
import { archivedBefore } from '../inbox/archive/age'
import { idTime } from '../lib/ids'
import { DAY, iso } from '../lib/time'
import { ENTITLEMENT_SETTINGS, settingsOf } from '../tenancy/settings'
import { type Catalog, type ConsumerFacts, type Item, indexed, type PlanFact, refsIn } from './facts'
import { asOf, historyEvent, type Past } from './history'
import { holdingsAs, holdingsIn, requireDerivable, tooMuch } from './holders'
import { MAX_AUDIT_WALKED, MAX_DAYS_FROM_NOW, MAX_HISTORY, MAX_SOURCES } from './limits'
import { holdingEventsOf, knownBefore, linkEventsOf, linkedSince, pastOf } from './past'
import { invoiceAt } from './reversal'

type Found = Results<ReturnType<typeof pastOf>>

/** The time that a caller asks about (ms), before or after now. @throws {Fault} `validation_failed` for one that cannot be asked about */
export function timeAsked(text: string, now: number): number {
  const at = Date.parse(text)
  if (Math.abs(at - now) <= MAX_DAYS_FROM_NOW * DAY) return at
  throw invalidField('/at', 'out_of_range', `must be at most ${MAX_DAYS_FROM_NOW} days ago, or as many ahead`)
}

/** From when (ms) events and audit entries are kept that tell what a consumer had. */
export function historySince(rt: Pick<Runtime, 'settings' | 'now'>): number {
  const { recordRetentionDays, auditRetentionDays } = rt.settings
  return rt.now - Math.min(recordRetentionDays, auditRetentionDays) * DAY
}

/** What is not known of a time ahead. The answer is what holds then if nothing happens: periods, trials and grants have ended. */
export const NOT_KNOWN_AHEAD = ['What happens until then: events, grants, and changes of plans and settings.']

/**
 * What a consumer had at a time, as far as it is known: the events, grants and revisions of plans that there were.
 *
 * @param by.ask sends the first statements: `batch`, or a route's `read`
 * @param by.keptSince see {@link historySince}
 * @param at milliseconds
 * @returns `missing`: what is not known, in words
 * @throws {Fault} `not_found`, `consumer_merged`, `payload_too_large`
 */
export async function holderAt(
  { db, ask, keptSince }: { db: Db; ask: Send; keptSince: number },
  { project_id, ref }: NamedConsumer,
  at: number,
) {
  const found = await ask(pastOf(db, project_id, ref, at))
  const consumer = requireConsumer(found.consumer)
  const now = holdingsIn(found.holdings)
  if (found.grants.length > MAX_SOURCES) throw tooMuch()
  const changes = found.changes.filter(({ bears }) => bears)
  const own = new Set(found.links.map(({ vendor, id }) => nameOf(vendor, id)))
  const moved = found.moves.filter(({ vendor, id }) => !own.has(nameOf(vendor, id)))
  const repinned = changes.filter(({ action }) => action === 'customer.pinned' || action === 'customer.unpinned')
  // Whom these pins took the customer from, nothing tells.
  const early = repinned.filter(({ id }) => idTime(id) < (found.state[0]?.value ?? 0))
  const named = new Set([...early.map(({ object_id }) => object_id), ...moved.map(({ id }) => id)])
  const claimed = found.links.filter(({ event_id }) => event_id !== null)
  const { events, relinked, known } = await batch(db, {
    events: holdingEventsOf(db, project_id, now),
    relinked: linkedSince(db, project_id, claimed, at),
    known: knownBefore(db, project_id, [...named], at),
  })
  const unlinked = new Set(relinked.filter(({ before }) => !before).map(({ vendor, id }) => nameOf(vendor, id)))
  const history = events.map(historyEvent)
  const past = now
    .filter(({ vendor, customer }) => !unlinked.has(nameOf(vendor, customer)))
    .map((row) => withInvoiceOf(asOf(row, history, at), at))
  const { plans, mappingOf } = catalogAt(found)
  const held = past.flatMap(({ row }) => {
    if (row === null) return []
    return [{ ...row, items: row.items.map((item) => ({ ...item, ...mappingOf(row.vendor, item) })) }]
  })
  const features = found.features.filter(({ created_at }) => created_at <= at)
  const catalog = indexed({ features, plans, rules: settingsOf(found.project[0]?.settings ?? null) })
  const holder: ConsumerFacts = { state: stateAt(consumer, changes, at), ...holdingsAs(held), grants: found.grants }
  requireDerivable(catalog, [holder])
  const missing = [
    ...(at < Math.max(keptSince, archivedBefore(found.archived) ?? 0)
      ? ['Some records from that time are archived, or no longer stored.']
      : []),
    ...(events.length > MAX_HISTORY
      ? [`There are more than ${MAX_HISTORY} events about the subscriptions and purchases.`]
      : []),
    ...missingOfWalk(found),
    ...past.flatMap((one) => one.missing),
    ...missingOfPlans(found),
    ...missingOfLinks(found, relinked, at),
    ...missingOfMoves(found, moved, known),
    ...missingOfPins(repinned, early, own, known),
    ...missingOfChanges(changes, consumer.id),
    ...unknownFeatures(catalog, found.grants).map((key) => `The feature ${key} has since been deleted.`),
  ]
  return { consumer, links: found.links, holder, catalog, missing: [...new Set(missing)] }
}

/** A subscription with its newest invoice as it was. */
function withInvoiceOf({ row, missing }: Past, at: number): Past {
  if (row === null) return { row, missing }
  const { invoice, isKnown } = invoiceAt(row.invoice, at)
  const unknown = `We do not know whether the last payment of ${row.id} had been refunded or charged back.`
  return { row: { ...row, invoice }, missing: isKnown ? missing : [...missing, unknown] }
}

function nameOf(vendor: string, id: string | null): string {
  return `${vendor} ${id}`
}

/** The plans as they were, and what an item was mapped to. */
function catalogAt({ plans: rows, refs }: Found) {
  const plans: PlanFact[] = []
  const mapped = new Map<string, Pick<Item, 'plan_id' | 'lasts' | 'again'>>()
  for (const { document, ...row } of rows) {
    const { key, rank, features } = document ?? row
    plans.push({ id: row.id, key, rank, features })
    const prices = document?.prices ?? refs.filter(({ plan_id }) => plan_id === row.id)
    for (const { vendor, ref, lasts = null, again = null } of prices)
      mapped.set(nameOf(vendor, ref), { plan_id: row.id, lasts, again })
  }
  const mappingOf = (vendor: string, item: Parameters<typeof refsIn>[0]) =>
    refsIn(item)
      .map((ref) => mapped.get(nameOf(vendor, ref)))
      .find((one) => one !== undefined) ?? { plan_id: null, lasts: null, again: null }
  return { plans, mappingOf }
}

/** The state of the consumer; null if it did not exist. */
function stateAt(
  { created_at, state }: Found['consumer'][number],
  changes: Found['changes'],
  at: number,
): string | null {
  if (created_at > at) return null
  const first = changes.find(({ action }) => action === 'consumer.blocked' || action === 'consumer.unblocked')
  if (state === 'erased' || !first) return state
  return first.action === 'consumer.unblocked' ? 'blocked' : 'active'
}

type Relinked = ReturnType<typeof linkedSince>['_']['result']
type Known = ReturnType<typeof knownBefore>['_']['result']

function missingOfWalk({ changes }: Found): string[] {
  if (changes.at(-1)?.nth !== MAX_AUDIT_WALKED) return []
  return [`More than ${MAX_AUDIT_WALKED} changes have since been made in the project.`]
}

function missingOfPlans({ plans }: Found): string[] {
  return plans
    .filter(({ pruned }) => pruned)
    .map(({ key }) => `The plan ${key} has since changed, and its revision from that time is no longer stored.`)
}

/** What is not known of when the consumer's customers became its own, in words. */
function missingOfLinks({ links, ids, consumer }: Found, relinked: Relinked, at: number): string[] {
  const isNew = consumer.some(({ created_at }) => created_at > at)
  const most = linkEventsOf(links.filter(({ event_id }) => event_id !== null).length)
  return [
    ...(links.length >= MAX_CUSTOMERS
      ? [`The consumer has ${MAX_CUSTOMERS} customers or more. We do not know when each of them was linked.`]
      : []),
    ...ids
      .filter(({ created_at }) => !isNew && created_at > at)
      .map(({ external_id }) => `The external id ${external_id} has since been added.`),
    ...relinked
      .filter(({ before }) => before)
      .map(
        ({ id }) =>
          `An event has since linked the customer ${id}. We do not know which consumer it was linked to before.`,
      ),
    ...relinked
      .filter(({ before, cut }) => !before && cut)
      .map(
        ({ id }) =>
          `An event has since linked the customer ${id}, and only its first ${most} events were checked. We do not know which consumer it was linked to before.`,
      ),
  ]
}

/** The customers that were the consumer's and are another one's, in words. */
function missingOfMoves({ moves }: Found, moved: Found['moves'], known: Known): string[] {
  const belonged = moved.filter(({ id }) => known.some((one) => one.id === id))
  return [
    ...(moves.length > MAX_CUSTOMERS
      ? [`More than ${MAX_CUSTOMERS} customers have since been linked to other consumers.`]
      : []),
    ...belonged.map(({ id, moved_at }) => `The customer ${id} belonged to the consumer until ${iso(moved_at)}.`),
  ]
}

/**
 * The customers whose pins have changed, in words.
 *
 * @param early those of which it is not known whom they took the customer from
 * @param own the names of the consumer's customers
 */
function missingOfPins(
  repinned: Found['changes'],
  early: Found['changes'],
  own: ReadonlySet<string>,
  known: Known,
): string[] {
  return repinned
    .filter(
      (change) =>
        own.has(nameOf(String(change.details?.vendor), change.object_id)) ||
        (early.includes(change) && known.some(({ id }) => id === change.object_id)),
    )
    .map(({ object_id }) => `The customer ${object_id} has since been pinned or unpinned.`)
}

/** What changes since make unknown, in words. */
function missingOfChanges(changes: Found['changes'], consumerId: string): string[] {
  const [first] = changes.filter(({ action }) => action === 'consumer.blocked' || action === 'consumer.unblocked')
  return changes.flatMap((change) => {
    const { action, object_id, details } = change
    switch (action) {
      case 'project.settings_changed': {
        const names = ENTITLEMENT_SETTINGS.filter((name) => name in (details ?? {}))
        return names.map((name) => `The setting ${name} has since been changed.`)
      }
      case 'feature.updated':
        return details?.combine ? [`How quantities of ${object_id} are combined may have changed since.`] : []
      case 'feature.deleted':
        return [`The feature ${object_id} has since been deleted.`]
      case 'consumer.blocked':
        // A consumer that is blocked can be blocked again, for another reason.
        return change === first ? ['The consumer has since been blocked, and may have been blocked already.'] : []
      case 'consumer.merged':
        return object_id === consumerId ? [] : [`${object_id} has since been merged into the consumer.`]
      case 'consumer.erased':
        return ['The consumer has since been erased.']
      default:
        return []
    }
  })
}

/** The features that plans and grants gave, and that are not in the catalog any more. */
function unknownFeatures({ features, plans }: Catalog, grants: Found['grants']): string[] {
  const known = new Set(features.map(({ key }) => key))
  const given = [...plans.flatMap((plan) => Object.keys(plan.features)), ...grants.map(({ feature }) => feature)]
  return given.filter((key) => key !== null && !known.has(key)) as string[]
}
