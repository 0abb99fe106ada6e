import { type FetchedAnswer, winnersRank } from '../../src/billing/fetched'
import { type Candidate, nanoseconds, type ResolvedState } from '../../src/billing/reduce'
import { iso, SECOND } from '../../src/lib/time'
import { EVENT_STEPS, type Read } from '../../src/vendors/snapshot'
import { between, type Change, changeAt, type History, named, type Random, rankOf } from './fetch-world'
import { shuffled } from './lives'

/** How fetches take part in the order: the product's rules, or some that lack a part. */
export type Rules = {
  /** When an answer was read; null if nothing is fetched at all. `end`: when it was here, by our clock, in ms. */
  read: ((answer: FetchedAnswer, end: number) => Read) | null
  merge: (known: readonly Candidate[], added: Candidate) => ResolvedState
  /** Whether an object that is flagged is fetched again, 6 s later. */
  asksAgain: boolean
}

export type Outcome = {
  isWrong: boolean
  isFlagged: boolean
  /** Whether a fetch began after the last change. */
  isSeen: boolean
  /** Whether another order of the same records ends in another row. */
  dependsOnOrder: boolean
  fetches: number
  /** Refreshes that were answered, and those of them whose answer shows less than the vendor did. */
  answers: number
  old: number
}

/** How often a flagged object is fetched again. */
const AGAIN = 4
/** Rounds of a refresh: it is repeated if an event came in between. */
const ROUNDS = 3
const ORDERS = 2
const EMPTY: ResolvedState = { candidates: [], ambiguous: false }

/** Plays one history under some rules, from the first delivery to the last. */
export function play(history: History, rules: Rules, random: Random): Outcome {
  const course = new Course(history, rules, random)
  course.run()
  const { row, records, isSeen, fetches, answers, old } = course
  // The same set in other orders, with repeats, must give the same row.
  const dependsOnOrder = Array.from({ length: ORDERS }).some(() => {
    const again = [...records, ...records.filter(() => random() < 0.3)]
    const other = shuffled(again, random).reduce((state, one) => rules.merge(state.candidates, one), EMPTY)
    return JSON.stringify(other) !== JSON.stringify(row)
  })
  const isWrong = row.candidates[0]?.after !== history.changes.at(-1)?.state
  return { isWrong, isFlagged: row.ambiguous, isSeen, dependsOnOrder, fetches, answers, old }
}

class Course {
  row = EMPTY
  readonly records: Candidate[] = []
  isSeen = false
  fetches = 0
  answers = 0
  old = 0
  private asked = 0
  /** When the fetch that is under way ends: an object has one at a time. */
  private free = 0
  /** The earliest first. */
  private readonly todo: { time: number; act: (now: number) => void }[] = []
  /** How far our own clock is off. */
  private readonly skew: number

  constructor(
    private readonly history: History,
    private readonly rules: Rules,
    private readonly random: Random,
  ) {
    this.skew = between(random, -2, 2)
  }

  run(): void {
    const { deliveries, refreshes, sends } = this.history
    for (const { candidate, arrives, isRepeated, isLost } of deliveries) {
      const receive = (now: number) =>
        sends === 'thin' ? this.fetchAt(now + between(this.random, 0.05, 0.5), 0) : this.record(now, candidate)
      if (isLost) continue
      this.at(arrives, receive)
      if (isRepeated) this.at(arrives + between(this.random, 1, 600), receive)
      if (sends === 'both') this.fetchAt(arrives + between(this.random, -0.2, 2), 0)
    }
    if (this.rules.read) for (const time of refreshes) this.fetchAt(time, ROUNDS)
    for (let next = this.todo.shift(); next; next = this.todo.shift()) next.act(next.time)
  }

  private at(time: number, act: (now: number) => void): void {
    const place = this.todo.findIndex((other) => other.time > time)
    this.todo.splice(place < 0 ? this.todo.length : place, 0, { time, act })
  }

  private record(now: number, candidate: Candidate): void {
    this.records.push(candidate)
    this.row = this.rules.merge(this.row.candidates, candidate)
    if (!this.row.ambiguous || !this.rules.asksAgain || this.asked === AGAIN) return
    this.asked += 1
    this.fetchAt(now + 6, 0)
  }

  /** @param rounds for somebody who waits: how often it may still be done; 0 if nobody waits */
  private fetchAt(time: number, rounds: number): void {
    this.at(time, (start) => {
      if (start < this.free) this.fetchAt(this.free, rounds)
      else this.fetch(start, rounds)
    })
  }

  private fetch(start: number, rounds: number): void {
    const { history, random } = this
    this.fetches += 1
    const known = this.row.candidates
    const read = start + (random() < 0.05 ? between(random, 0.3, 3) : between(random, 0.03, 0.3))
    const change = changeAt(history.changes, read - (random() < history.stale ? between(random, 0, 1.5) : 0))
    const end = read + 0.02 + (random() < 0.05 ? between(random, 0.1, 2) : between(random, 0.03, 0.15))
    this.free = end
    if (start > (history.changes.at(-1)?.at ?? 0) + history.stale * 75) this.isSeen = true
    if (!change) return // the vendor says 404
    // The vendor's API has a clock of its own, and says whole seconds.
    const date = Math.floor(read + 0.02 + between(random, -0.3, 0.3))
    this.at(end, (now) => this.receive(now, { known, change, date, start, rounds }))
  }

  private receive(now: number, { known, change, date, start, rounds }: Answer): void {
    const { history, rules, random } = this
    const { state: shown, at } = change
    const version = history.versions ? at : undefined
    const answer = {
      date: new Date(date * SECOND).toUTCString(),
      tookMs: Math.round((now - start) * SECOND),
      startedAt: Math.round((start + this.skew) * SECOND),
      over: winnersRank({ candidates: known }),
      ...(version !== undefined && { version: iso(version * SECOND) }),
    }
    const id = `ftc_${Math.floor(random() * 2 ** 40).toString(36)}`
    const end = Math.round((now + this.skew) * SECOND)
    const read = rules.read?.(answer, end) as Read
    const rank = rankOf(shown, { step: EVENT_STEPS.updated, read, ...(version !== undefined && { version }) })
    const candidate = { ...named(id), rank, before: null, after: shown, body: null, until: nanoseconds(read.until) }
    // A fetch that shows what is known already says nothing new: it leaves no record.
    if (this.row.ambiguous || known[0]?.after !== shown) this.record(now, candidate)
    if (rounds === 0) return
    const after = this.row.candidates[0]?.after
    const isNewer = after === shown || after === changeAt(history.changes, now)?.state
    if (!isNewer && rounds > 1) {
      this.fetch(now, rounds - 1)
      return
    }
    this.answers += 1
    this.old += Number(!isNewer)
  }
}

type Answer = { known: Candidate[]; change: Change; date: number; start: number; rounds: number }
