import type { Effect } from '../billing/effect'
import { periodOf } from '../billing/past-due'
import { nanoseconds } from '../billing/reduce'
import { sourceOfId } from '../inbox/sources'
import type { DecodedSummary } from '../inbox/summary'
import type { BoughtItem } from './facts'
import type { HoldingRow } from './holders'
import type { HeldKind } from './holdings'

/** An event that refers to a subscription or a purchase. Times in ms, except for the vendor's. */
export type HistoryEvent = {
  kind: HeldKind
  /** The vendor's id of it. */
  ref: string
  id: string
  vendor: string
  processed_at: number
  occurred_at: string | null
  /** The status of the object that the event is about, and its id. */
  object: string | null
  status: string | null
  /** What it did to it; null if it is about something else. */
  effect: Effect | null
  /** When it was last processed, if that was more than once. */
  again_at: number | null
}

/** One of the rows that `holdingEventsOf` reads. */
type ReferringRow = Omit<HistoryEvent, 'vendor' | 'processed_at' | 'object' | 'status' | 'effect'> & {
  processed_at: number | null
  summary: DecodedSummary | null
}

export function historyEvent({ summary, processed_at, ...row }: ReferringRow): HistoryEvent {
  const effect = summary?.effects.find(
    ({ kind, id, result }) => kind === row.kind && id === row.ref && result !== 'fetched' && result !== 'gone',
  )
  return {
    ...row,
    vendor: summary?.vendor ?? '',
    processed_at: processed_at ?? Number.POSITIVE_INFINITY,
    object: summary?.object.id ?? null,
    status: summary?.object.status ?? null,
    effect: effect ?? null,
  }
}

/** Fields that decide about access, as events record them. Each kind has some of them. */
type State = Record<(typeof TRACKED)[number], unknown>
const TRACKED = [
  'status',
  'livemode',
  'customer',
  'items',
  'current_period_start',
  'current_period_end',
  'cancel_at',
  'cancel_at_period_end',
  'ended_at',
  'updated_at',
  'paid_at',
  'refunds',
  'disputes',
] as const

/** A subscription or a purchase as it was; null if there was none. `missing`: what is not known, in words. */
export type Past = { row: HoldingRow | null; missing: string[] }

/**
 * Walks a subscription or a purchase back from now: undoes what the events that were processed after a time did to it, the last one first.
 *
 * @param events that refer to it, in any order
 * @param at milliseconds
 */
export function asOf(row: HoldingRow, events: readonly HistoryEvent[], at: number): Past {
  const name = `The ${row.kind} ${row.id}`
  const own = events.filter(({ kind, ref, vendor }) => kind === row.kind && ref === row.id && vendor === row.vendor)
  const later = own.filter(({ processed_at, effect }) => processed_at > at && isChange(effect))
  const earlier = own.filter(({ processed_at }) => processed_at <= at)
  const missing = earlier
    .filter(({ again_at, effect }) => again_at !== null && again_at > at && isChange(effect))
    .map(({ id }) => `${id} has since been processed again, which may have changed its effect on ${row.id}.`)
  const { before: state, left } = unwound(stateOf(row), later)
  if (state.status === null) return { row: null, missing }
  if (left.length > 0) missing.push(`${name} has since changed in a way that its events do not show.`)
  if (state.customer !== row.customer) {
    return { row: null, missing: [...missing, `${name} was another customer's.`] }
  }
  // A purchase is decided by the newest of its parts, whichever came last.
  const newest = (a: HistoryEvent, b: HistoryEvent) =>
    row.kind === 'purchase' && timeOf(a) !== timeOf(b) ? (timeOf(a) < timeOf(b) ? 1 : -1) : 0
  const deciding = earlier
    .filter(({ effect }) => effect !== null && effect.result !== 'superseded')
    .toSorted((a, b) => newest(a, b) || b.processed_at - a.processed_at)[0]
  const isAsNow = later.length === 0
  const { since, isKnown } = pastDueSince(state, earlier, row)
  if (!isKnown) missing.push(`We do not know when ${row.id} became past due.`)
  return { row: rowOf(row, state, isAsNow ? null : (deciding ?? null), since), missing }
}

/** Whether an event changed the row as it is shown. Money that comes back before its sale is in what the sale's event changed. */
const isChange = (effect: Effect | null) => effect?.change != null && effect.result !== 'unplaced'

/**
 * Undoes what events did, the last one first, as far as they fit together.
 *
 * @returns `steps`: the events that fitted, each with the state that it left; `before`: the state before all of them; `left`: the
 *   others
 */
function unwound(now: State, events: readonly HistoryEvent[]) {
  const left = [...events]
  const steps: { event: HistoryEvent; state: State }[] = []
  let state = now
  while (left.length > 0 && state.status !== null) {
    const last = Math.max(...left.map(({ processed_at }) => processed_at))
    // Several events can be processed in one millisecond: the one that fits comes first.
    const next = left.findIndex(({ processed_at, effect }) => processed_at === last && fits(state, effect))
    const [event] = next < 0 ? [] : left.splice(next, 1)
    if (!event) break
    steps.push({ event, state })
    state = undone(state, event.effect)
  }
  return { steps, before: state, left }
}

function stateOf(row: HoldingRow): State {
  const { status, customer, items, period_start, period_end, cancel_at, ended_at, updated_at } = row
  return {
    status,
    customer,
    cancel_at,
    ended_at,
    updated_at,
    items: items.length === 0 && row.kind === 'purchase' ? null : itemsIn(items),
    paid_at: row.paid_at,
    refunds: partsIn(row.refunds),
    disputes: partsIn(row.disputes),
    livemode: row.livemode === null ? null : row.livemode === 1,
    current_period_start: period_start,
    current_period_end: period_end,
    cancel_at_period_end: row.cancel_at_period_end === null ? null : row.cancel_at_period_end === 1,
  }
}

/** Of items, what decides about access. */
function itemsIn(items: unknown): unknown {
  if (!Array.isArray(items)) return null
  return items.map((item) => {
    const { price = null, variant = null, product = null, quantity = null } = item
    return { price, variant, product, quantity, returned: item.quantity_returned ?? item.returned ?? 0 }
  })
}

/** Of refunds or disputes, what decides about access. */
function partsIn(parts: unknown): unknown {
  if (!Array.isArray(parts)) return null
  return parts.map(({ id = null, status = null, state = null, revokes_access = null, event_id = null }) => ({
    id,
    event_id,
    revokes_access,
    ...(status === null ? { state } : { status }),
  }))
}

/** A value of a field in a change. */
function valueIn(field: string, value: unknown): unknown {
  if (field === 'items') return itemsIn(value)
  return field === 'refunds' || field === 'disputes' ? partsIn(value) : (value ?? null)
}

/** Whether an event can have left an object in a state. */
function fits(state: State, effect: Effect | null): boolean {
  return TRACKED.every((field) => {
    const one = effect?.change?.[field]
    if (!one) return true
    return !one.too_large && JSON.stringify(valueIn(field, one.to)) === JSON.stringify(state[field])
  })
}

/** The state before an event. */
function undone(state: State, effect: Effect | null): State {
  const before = TRACKED.map((field) => {
    const one = effect?.change?.[field]
    return [field, one ? valueIn(field, one.from) : state[field]]
  })
  return Object.fromEntries(before) as State
}

function rowOf(row: HoldingRow, state: State, deciding: HistoryEvent | null, since: string | null): HoldingRow {
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  const bit = (value: unknown) => (typeof value === 'boolean' ? Number(value) : null)
  const items = (Array.isArray(state.items) ? state.items : []) as Omit<BoughtItem, 'plan_id'>[]
  return {
    ...row,
    period_start: text(state.current_period_start),
    period_end: text(state.current_period_end),
    status: String(state.status),
    cancel_at: text(state.cancel_at),
    ended_at: text(state.ended_at),
    updated_at: text(state.updated_at),
    paid_at: text(state.paid_at),
    refunds: state.refunds as HoldingRow['refunds'],
    disputes: state.disputes as HoldingRow['disputes'],
    livemode: bit(state.livemode),
    cancel_at_period_end: bit(state.cancel_at_period_end),
    items: items.map((item) => ({ ...item, plan_id: null })),
    ...(deciding && { event_id: deciding.id, ambiguous: deciding.effect?.result === 'ambiguous' }),
    past_due_period: periodIn(state),
    past_due_since: since,
  }
}

/**
 * Since when a subscription was past due in its period, by the events that were there; null if none says so. An event that decided the
 * state tells of which period it is. For another one, those around it do, by the vendor's times.
 *
 * @returns `isKnown`: whether no event that may be of another period says an earlier time
 */
function pastDueSince(state: State, earlier: readonly HistoryEvent[], row: HoldingRow) {
  if (state.status !== 'past_due') return { since: null, isKnown: true }
  const period = periodIn(state)
  const now = row.past_due_period === period ? row.past_due_since : null
  // A fetch does not say since when what it shows holds.
  const own = earlier.filter(
    ({ id, effect, occurred_at }) => effect !== null && occurred_at !== null && sourceOfId(id) === 'delivery',
  )
  const { steps, left } = unwound(
    state,
    own.filter(({ effect }) => effect?.result !== 'superseded'),
  )
  const decided = steps.map((one) => ({ ...one, time: timeOf(one.event), isOfPeriod: periodIn(one.state) === period }))
  const isOfPeriod = (time: string) => {
    const [last] = decided.filter((one) => one.time <= time).toSorted((a, b) => (a.time < b.time ? 1 : -1))
    return last ? last.isOfPeriod : decided.every((one) => one.isOfPeriod)
  }
  const others = own
    .filter((event) => event.effect?.result === 'superseded' || left.includes(event))
    .filter(({ object, status }) => object === row.id && status === 'past_due')
    .map(timeOf)
    .filter((time) => time >= (now ?? period))
  const said = decided.filter((one) => one.isOfPeriod && one.state.status === 'past_due').map(({ time }) => time)
  const [since = null] = [...said, ...others.filter(isOfPeriod)].sort()
  // What all events say until now, one of these said already.
  if (now !== null && [...said, ...others].includes(now)) return { since: now, isKnown: true }
  const isKnown = others.every((time) => isOfPeriod(time) || (since !== null && time >= since))
  // An event of which no record is left may have been the first.
  return { since: since ?? (isKnown ? now : null), isKnown }
}

function timeOf({ occurred_at }: HistoryEvent): string {
  return nanoseconds(occurred_at)
}

function periodIn({ current_period_start: start, current_period_end: end }: State): string {
  return periodOf(typeof start === 'string' ? start : null, typeof end === 'string' ? end : null)
}
