import { type Candidate, eventRank } from '../../src/billing/reduce'
import { iso, SECOND } from '../../src/lib/time'
import { EVENT_STEPS, type EventStep, type Read, type Snapshot } from '../../src/vendors/snapshot'

/*
 * Histories of one object each, in the manner of Stripe, for the order of fetched objects and events. Times are seconds.
 *
 * Changes are committed at real times of the vendor's. The time of an event is the whole second of that, by a clock that is
 * off by up to 0.4 s. Deliveries are late, repeated, out of order, or lost.
 */

export type World = {
  /** The share of changes within a second of the one before. */
  ties: number
  /** The share of changes that go back to an earlier state; one in six by default. */
  returns?: number
  /** The share of events that never arrive. */
  lost: number
  /** Whether most deliveries take 0.05 to 0.6 s, and not 0.3 to 3 s. */
  fast?: boolean
  /** The share of reads that show the object as it was up to 1.5 s before. */
  stale?: number
  /** How far the clock of events is off at most. */
  skew?: number
  /** Whether each event has a clock of its own, so that even their times may have the wrong order. */
  apart?: boolean
  /**
   * Whether objects have versions, as those of Paddle do: the time of the last change, to the millisecond. Events have it too. They occur
   * up to 3 s after it, and do not say what was before.
   */
  versions?: boolean
  /** How often somebody asks for a refresh at most: each time in 70 % of histories. */
  refreshes?: number
  /** `thin`: an event only has the object fetched. `both`: each event comes with its object, and has it fetched too. */
  sends?: 'objects' | 'thin' | 'both'
}

export type Change = { at: number; state: string }
export type Delivery = { candidate: Candidate; arrives: number; isRepeated: boolean; isLost: boolean }
export type History = Required<Pick<World, 'stale' | 'versions' | 'sends'>> & {
  changes: Change[]
  deliveries: Delivery[]
  /** When somebody asks for a refresh. */
  refreshes: number[]
}

export type Random = () => number
export const between = (random: Random, low: number, high: number) => low + random() * (high - low)
export const END = 'END'

export function historyOf(world: World, random: Random): History {
  const { stale = 0, versions = false, refreshes = 2, sends = 'objects' } = world
  const changes = changesOf(world, random)
  const deliveries = deliveriesOf(changes, world, random)
  // Around a change: before, amid or after its deliveries.
  const asked = Array.from({ length: refreshes })
    .filter(() => random() < 0.7)
    .map(() => pick(changes, random).at + between(random, -1, 4))
  return { changes, deliveries, refreshes: asked, stale, versions, sends }
}

/** The last change before a time; undefined if there is none. */
export function changeAt(changes: readonly Change[], time: number): Change | undefined {
  return changes.findLast(({ at }) => at <= time)
}

/** One object in five ends. */
function changesOf({ ties, returns = 1 / 6 }: World, random: Random): Change[] {
  const changes: Change[] = []
  let at = 1000 + random()
  const steps = 3 + Math.floor(random() * 5)
  for (let i = 0; i < steps; i++) {
    if (i > 0) at += random() < ties ? between(random, 0.02, 0.6) : between(random, 1, 100)
    const last = changes.at(-1)?.state
    const earlier = changes.map(({ state }) => state).filter((state) => state !== last)
    changes.push({ at, state: earlier.length > 0 && random() < returns ? pick(earlier, random) : `s${i}` })
  }
  if (random() < 0.2) (changes.at(-1) as Change).state = END
  return changes
}

function deliveriesOf(changes: readonly Change[], world: World, random: Random): Delivery[] {
  const { lost, skew = 0.4, apart = false, fast = false, versions = false } = world
  const off = between(random, -skew, skew)
  let latest = 0
  return changes.map(({ at, state }, i) => {
    const second = Math.floor(at + (apart ? between(random, -skew, skew) : off))
    latest = Math.max(latest + 0.001, at + (versions ? between(random, 0.1, 3) : 0))
    const time = versions ? latest : second
    const step = i === 0 ? EVENT_STEPS.created : EVENT_STEPS.updated
    const id = `evt_${Math.floor(random() * 2 ** 40).toString(36)}`
    const before = versions ? null : (changes[i - 1]?.state ?? null)
    const rank = rankOf(state, { time, step, ...(versions && { version: at }) })
    const candidate = { ...named(id), rank, before, after: state, body: null }
    return { candidate, arrives: at + latency(fast, random), isRepeated: random() < 0.1, isLost: random() < lost }
  })
}

export const named = (id: string) => ({ vendor_event_id: id, event_id: id })

/** The rank of an event, or of a fetch, that shows this state. */
export function rankOf(
  state: string,
  { time, version, step, read }: { time?: number; version?: number; step: EventStep; read?: Read },
): string {
  const [occurred_at, updated_at] = [time, version].map((one) => (one === undefined ? null : iso(one * SECOND)))
  return eventRank({ terminal: state === END, occurred_at, updated_at, step, ...(read && { read }) } as Snapshot)
}

function latency(fast: boolean, random: Random): number {
  const place = random()
  if (place < 0.9) return fast ? between(random, 0.05, 0.6) : between(random, 0.3, 3)
  return place < 0.98 ? between(random, 3, 60) : between(random, 60, 3600)
}

function pick<T>(list: readonly T[], random: Random): T {
  return list[Math.floor(random() * list.length)] as T
}
