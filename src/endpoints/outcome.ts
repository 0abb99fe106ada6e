import { MOST_AT_ONCE } from '../followers/limits'
import type { KeptAttempt } from '../followers/schema'
import { utf8 } from '../lib/crypto'
import { isGone, isTaken } from './attempt'
import type { Work } from './items'
import { DISABLED_AFTER_MS, FAILURES_TO_OPEN, FAST, FULL_WAIT_MS, KEPT_OF_SUCCESS, MAX_LOGGED } from './limits'
import { probeWait, retryWait } from './schedule'
import type { Sent } from './send'
import type { Endpoint } from './work'

/** A change that an endpoint is to get once more, or that is given up (`due_at` null). */
export type Parked = {
  seq: number
  type: string
  tries: number
  due_at: number | null
  attempted_at: number | null
  status: number | null
  error: string | null
}

/** What an endpoint is after a run has sent something. */
export type Progress = Pick<
  Endpoint,
  | 'epoch'
  | 'position'
  | 'state'
  | 'disabled_reason'
  | 'failures'
  | 'failing_since'
  | 'not_before'
  | 'at_once'
  | 'slow'
  | 'last_success_at'
  | 'last_failure_at'
>
export type Outcome = {
  progress: Progress
  parked: Parked[]
  /** The numbers of the changes that were due again and are not any more: it has them or no longer gets them, or the feed no longer has them. */
  done: number[]
  resentTo: number
  log: KeptAttempt[]
}

/** The effects of what was sent. @param now milliseconds */
export function outcomeOf(endpoint: Endpoint, work: Work, sent: readonly Sent[], now: number): Outcome {
  const inOrder = sent.toSorted((a, b) => work.items.indexOf(a.item) - work.items.indexOf(b.item))
  const passed = inOrder.filter((one) => isPassed(endpoint, one))
  const progress = progressOf(endpoint, sent, now)
  const gap = passed.find(({ item }) => item.kind === 'gap')?.item
  const at =
    gap?.kind === 'gap'
      ? gap.until
      : { epoch: endpoint.epoch, number: reached(work, passed, 'next', endpoint.position) }
  return {
    progress: {
      ...progress,
      epoch: at.epoch,
      position: at.number,
      ...(work.waits && { not_before: now + FULL_WAIT_MS }),
    },
    parked: passed.flatMap((one) => parkedOf(one, endpoint, now) ?? []),
    done: [
      ...work.dropped,
      ...passed.flatMap(({ item, made }) => {
        const mayWait = item.kind === 'due' || item.kind === 'again'
        return mayWait && isTaken(made.status) ? [item.change.number] : []
      }),
    ],
    resentTo: reached(work, passed, 'again', work.resentFrom),
    log: logOf(endpoint, inOrder),
  }
}

/** Whether the endpoint goes on behind this. An ordered one waits at what it does not take, through all its retries; so does a gap. */
function isPassed({ ordered, failures }: Endpoint, { item, made, isGivenUp }: Sent): boolean {
  const isHeld = item.kind === 'gap' || (ordered && item.kind === 'next')
  if (!isHeld || isTaken(made.status) || isGone(made)) return true
  return item.kind !== 'gap' && !isGivenUp && made.status !== 410 && retryWait(failures + 1) === null
}

/** The number of the change up to which everything was begun and is passed. */
function reached(work: Work, passed: readonly Sent[], kind: 'next' | 'again', from: number): number {
  const all = work.items.filter((item) => item.kind === kind)
  const own = passed.filter(({ item }) => item.kind === kind)
  if (own.length === all.length) return kind === 'next' ? work.end : work.resentTo
  const last = own.at(-1)?.item
  if (last && last.kind !== 'gap') return last.change.number
  return from
}

/** What is kept of something that was not taken; null if it was, or if the endpoint waits at it. */
function parkedOf({ item, made, isGivenUp, type }: Sent, endpoint: Endpoint, now: number): Parked | null {
  if (item.kind === 'gap' || isTaken(made.status)) return null
  const { status, error } = made
  const of = { seq: item.change.number, type, attempted_at: made.at, status, error }
  if (isGone(made)) return { ...of, tries: item.tries, due_at: null }
  const isSpent = endpoint.ordered && item.kind === 'next'
  const tries = isSpent ? endpoint.failures + 1 : item.tries + (isGivenUp ? 0 : 1)
  const wait = isGivenUp || made.status === 410 ? 0 : isSpent ? null : retryWait(tries)
  const due_at = wait === null ? null : now + Math.max(wait, made.hold)
  return { ...of, tries, due_at }
}

function progressOf(endpoint: Endpoint, sent: readonly Sent[], now: number): Omit<Progress, 'epoch' | 'position'> {
  const { ordered } = endpoint
  let { state, failures, failing_since, last_success_at, last_failure_at, disabled_reason } = endpoint
  for (const { item, made, isGivenUp } of sent) {
    // It is passed, and so are the attempts at it.
    if (isGone(made) && ordered && item.kind === 'next') failures = 0
    if (isGivenUp || isGone(made)) continue
    if (isTaken(made.status)) {
      state = 'active'
      failures = 0
      failing_since = null
      last_success_at = now
    } else {
      last_failure_at = now
      failing_since ??= now
      // Retries beside other changes say nothing new. As the only attempt, one does.
      if (item.kind !== 'due' || state === 'failing') failures += 1
    }
  }
  const spent = ordered && failures > 0 && retryWait(failures) === null
  const isDead = failures >= FAILURES_TO_OPEN && failing_since !== null && now - failing_since >= DISABLED_AFTER_MS
  if (state === 'active' && failures >= FAILURES_TO_OPEN) {
    state = 'failing'
    // Five may have failed side by side: the wait begins with the shortest, whatever their number.
    if (!ordered) failures = FAILURES_TO_OPEN
  }
  if (sent.some(({ made }) => made.status === 410)) [state, disabled_reason] = ['disabled', 'gone']
  else if (isDead) [state, disabled_reason] = ['disabled', 'failing']
  const hold = Math.max(0, ...sent.map(({ made }) => made.hold))
  const held = sent.some(({ item, made }) => item.kind === 'gap' && !isTaken(made.status))
  // Where nothing was sent, nothing has failed either: a failing endpoint goes on to what it gets.
  const wait = sent.every(({ made }) => isGone(made)) ? 0 : waitOf({ ordered: ordered || held, state, failures, spent })
  const not_before = Math.max(hold, wait) > 0 ? now + Math.max(hold, wait) : 0
  if (spent) failures = 0
  return {
    state,
    disabled_reason,
    failures,
    failing_since,
    not_before,
    last_success_at,
    last_failure_at,
    ...paceOf(endpoint, sent),
  }
}

/** How long the endpoint gets nothing (ms), by what it has failed to take. */
function waitOf({
  ordered,
  state,
  failures,
  spent,
}: {
  ordered: boolean
  state: string
  failures: number
  spent: boolean
}) {
  if (failures === 0 || spent) return 0
  if (ordered) return probeWait(failures)
  return state === 'failing' ? probeWait(failures - FAILURES_TO_OPEN + 1) : 0
}

/** How many it gets at once, and in which queue. */
function paceOf({ at_once, slow }: Endpoint, sent: readonly Sent[]): Pick<Endpoint, 'at_once' | 'slow'> {
  const isLoaded = sent.some(({ made }) => made.status === 429 || made.status === 502 || made.status === 504)
  const isWell = sent.length >= at_once && sent.every(({ made }) => isTaken(made.status))
  const isFast = sent.length >= FAST.attempts && sent.every(({ made }) => made.ms <= FAST.ms)
  const more = isWell ? Math.min(MOST_AT_ONCE, at_once * 2) : at_once
  return {
    at_once: isLoaded ? Math.max(1, Math.floor(at_once / 2)) : more,
    slow: sent.some(({ isGivenUp }) => isGivenUp) || (slow && !isFast),
  }
}

/** What the log keeps. Beyond so many bytes of answers, it keeps as little of a failure's as of a success's. */
function logOf({ ordered, failures }: Endpoint, sent: readonly Sent[]): KeptAttempt[] {
  let bytes = 0
  return sent.map(({ item, id, type, made, isGivenUp }) => {
    const { at, ms, status, error } = made
    bytes += utf8(made.answer).byteLength
    const answer = bytes > MAX_LOGGED ? made.answer.slice(0, KEPT_OF_SUCCESS) : made.answer
    const n = item.kind === 'gap' ? 0 : item.change.number
    const tries = item.kind === 'gap' || (ordered && item.kind === 'next') ? failures : item.tries
    return { n, e: id, type, at, ms, try: tries + 1, s: status, x: isGivenUp ? 'slow' : error, a: answer }
  })
}
