import type { Effect } from '../../billing/effect'
import { writeLog } from '../../http/log'
import { settingsOf } from '../../tenancy/settings'
import type { CustomerClaim } from '../../vendors/claim'
import { type EventError, fail } from '../../vendors/event-errors'
import type { Snapshot } from '../../vendors/snapshot'
import type { Status } from '../lifecycle'
import { unpacked } from '../payload'
import type { DecodedSummary } from '../summary'
import type { Claimed } from './claim'
import { contentsOf, decide } from './decide'
import { RETRY_DELAYS_MS, RETRY_JITTER } from './limits'
import type { StoredPayload } from './payloads'

/** What asks for an event, other than its own message: it becomes the trigger of the first attempt. */
export type Via = 'sweep' | 'replay'

/** How an attempt at a claimed event ends. */
export type Verdict = {
  event: Claimed
  status: Extract<Status, 'processed' | 'ignored' | 'failed' | 'retrying'>
  error: EventError | null
  /** When the next attempt is due (ms). Null exactly when the status is final. */
  due_at: number | null
  trigger: 'ingest' | 'retry' | 'sweep' | 'replay'
  /** When the attempt began (ms). */
  started_at: number
  summary: DecodedSummary | null
  snapshots: readonly Snapshot[]
  claims: readonly CustomerClaim[]
  /** What became of the object that the event only names. */
  fetched?: Effect
  /** Set once it is written: whether objects of its project came into doubt, so that the vendor is to be asked. */
  noted?: boolean
}

/**
 * Decides on the claimed events of one delivery.
 *
 * @param payload of the delivery; undefined if it is past its retention
 * @param viaOf what asks for an event, other than its own message
 */
export async function judge(
  events: readonly Claimed[],
  payload: StoredPayload | undefined,
  viaOf: (event: Claimed) => Via | undefined,
): Promise<Verdict[]> {
  const attempts = events.map((event) => ({ event, trigger: triggerOf(event, viaOf(event)), started_at: Date.now() }))
  const [first] = events
  if (!first) return []
  try {
    const contents = contentsOf(first, payload && unpacked(payload), settingsOf(first.settings))
    return attempts.map((attempt) => ({ ...attempt, ...decide(attempt.event, contents), due_at: null }))
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined }
    for (const { id } of events) writeLog('error', 'processing_failed', { event_id: id, error: stack ?? message })
    return attempts.map((attempt) => retried(attempt, fail('internal_error', message)))
  }
}

/**
 * The verdict on an attempt that failed: another one is due later, or the event has failed because its tries are used up.
 *
 * @param atLeast how long to wait (ms), if that is longer than after other failures; not longer than the longest of those waits
 */
export function retried(
  { event, trigger, started_at }: Pick<Verdict, 'event' | 'trigger' | 'started_at'>,
  error: EventError,
  atLeast = 0,
): Verdict {
  const delay = retryDelay(event.tries, Math.random())
  const failed = { event, trigger, started_at, error, summary: null, snapshots: [], claims: [] }
  return delay === null
    ? { ...failed, status: 'failed', due_at: null }
    : {
        ...failed,
        status: 'retrying',
        due_at: Date.now() + Math.max(delay, Math.min(atLeast, Math.max(...RETRY_DELAYS_MS))),
      }
}

function triggerOf(event: Claimed, via: Via | undefined): Verdict['trigger'] {
  if (event.tries > 1) return 'retry'
  if (event.replay_id !== null) return 'replay'
  return via ?? 'ingest'
}

/**
 * How long to wait after a try that failed.
 *
 * @param tries attempts since the last trigger, this one included (1 …)
 * @param random 0 … 1
 * @returns milliseconds; null when the tries are used up
 */
export function retryDelay(tries: number, random: number): number | null {
  const base = RETRY_DELAYS_MS[tries - 1]
  return base === undefined ? null : Math.round(base * (1 - RETRY_JITTER + 2 * RETRY_JITTER * random))
}
