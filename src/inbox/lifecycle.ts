import { HOUR, MINUTE, SECOND } from '../lib/time'

/** The statuses of a billing webhook event. */
export const STATUSES = ['received', 'processing', 'retrying', 'queued', 'processed', 'ignored', 'failed'] as const
export type Status = (typeof STATUSES)[number]

/** Statuses that nothing but a replay leaves. */
export const FINAL_STATUSES = ['processed', 'ignored', 'failed'] as const satisfies readonly Status[]

/** What moves an event from one status to another. */
export type Move = 'claim' | 'finish' | 'replay' | 'give_up'

/**
 * The lifecycle of an event, as data. `record.ts` writes statuses by it and nothing else does; the database holds the
 * rest: `due_at` is NULL exactly when the status is final, so the sweep, which goes by `due_at`, covers every open one.
 */
export const LIFECYCLE: Record<Status, { meaning: string; leftBy: readonly Move[] }> = {
  received: { meaning: 'recorded, not tried yet', leftBy: ['claim'] },
  processing: { meaning: 'claimed, its lease is running', leftBy: ['finish', 'claim', 'give_up'] },
  retrying: { meaning: 'an attempt failed; the next one is at next_attempt_at', leftBy: ['claim'] },
  queued: { meaning: 'a replay was asked for', leftBy: ['claim'] },
  processed: { meaning: 'done, its effects are applied', leftBy: ['replay'] },
  ignored: { meaning: 'done: there is nothing to apply for this type', leftBy: ['replay'] },
  failed: { meaning: 'the attempts are used up, or no retry mends the error', leftBy: ['replay'] },
}

export const OPEN_STATUSES = STATUSES.filter((status) => !(FINAL_STATUSES as readonly Status[]).includes(status))

/** How long a claim holds before another worker may take the event over. */
export const LEASE_MS = 60 * SECOND
/** The sweep re-sends an event that the Queue has not brought this long after its receipt … */
export const FIRST_DUE_MS = 30 * SECOND
/** … and then looks again after this long, so that a slow queue is not flooded. */
export const RESEND_EVERY_MS = 5 * MINUTE

/** Waits between attempts; after the last one the event has failed. */
export const RETRY_DELAYS_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 10 * HOUR]
/** Attempts one trigger (a receipt, a replay) is good for. */
export const MAX_TRIES = RETRY_DELAYS_MS.length + 1
const JITTER = 0.2

/**
 * How long to wait after the given try.
 *
 * @param tries attempts since the last trigger, this one included (1 …)
 * @param random 0 … 1
 * @returns milliseconds, ±20 %; null when the tries are used up
 */
export function retryDelay(tries: number, random: number): number | null {
  const base = RETRY_DELAYS_MS[tries - 1]
  return base === undefined ? null : Math.round(base * (1 - JITTER + 2 * JITTER * random))
}
