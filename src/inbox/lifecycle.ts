/** The statuses of a billing webhook event. */
export const STATUSES = ['received', 'processing', 'retrying', 'queued', 'processed', 'ignored', 'failed'] as const
export type Status = (typeof STATUSES)[number]

/** The statuses as they are shown: an open event of a paused connection is `held`, whatever is stored. See held.ts. */
export const SHOWN_STATUSES = [...STATUSES.slice(0, 4), 'held', ...STATUSES.slice(4)] as const satisfies readonly (
  | Status
  | 'held'
)[]
export type ShownStatus = Status | 'held'

/**
 * What takes an event out of its status:
 * - `claim`: a worker takes it as soon as its message arrives
 * - `retry`: a worker takes it, but not before `next_attempt_at`
 * - `take_over`: a worker takes it from another one whose lease has expired
 * - `finish`: the worker that holds the lease writes how the attempt ended
 * - `hand_back`: the worker that holds the lease undoes its claim
 * - `give_up`: the sweep fails it, because each of its tries ended with a dead worker
 * - `replay`: a user or an API key asks for it to be processed again
 */
export type Move = 'claim' | 'retry' | 'take_over' | 'finish' | 'hand_back' | 'give_up' | 'replay'

/**
 * The lifecycle of an event: which moves leave each status. Every statement that writes a status takes its condition
 * from here (see {@link leftBy}). The database guards the rest: `due_at` is NULL exactly when the status is final, so
 * the sweep, which looks at `due_at`, covers every open event.
 */
const LIFECYCLE = {
  /** Recorded, not tried yet. */
  received: ['claim'],
  /** Claimed by a worker whose lease is running, or has expired. */
  processing: ['finish', 'hand_back', 'take_over', 'give_up'],
  /** An attempt failed. The next one is due at `next_attempt_at`. */
  retrying: ['retry'],
  /** A replay was requested. */
  queued: ['claim'],
  /** Done. Its effects are applied. */
  processed: ['replay'],
  /** Done. An event of this type has no effects. */
  ignored: ['replay'],
  /** The attempts are used up, or the error is one that no retry can fix. */
  failed: ['replay'],
} as const satisfies Record<Status, readonly Move[]>

type LeftBy<M extends Move> = { [S in Status]: M extends (typeof LIFECYCLE)[S][number] ? S : never }[Status]

/** The statuses that a move may leave. */
export function leftBy<M extends Move>(move: M): LeftBy<M>[] {
  const leaves = (status: Status): status is LeftBy<M> => (LIFECYCLE[status] as readonly Move[]).includes(move)
  return STATUSES.filter(leaves)
}

/** Statuses that only a replay leaves. */
export const FINAL_STATUSES = leftBy('replay')
export type FinalStatus = (typeof FINAL_STATUSES)[number]

/** Statuses of events that still have an attempt to come. */
export const OPEN_STATUSES: readonly Status[] = STATUSES.filter((status) => !isFinal(status))

export function isFinal(status: ShownStatus): status is FinalStatus {
  return (FINAL_STATUSES as readonly ShownStatus[]).includes(status)
}
