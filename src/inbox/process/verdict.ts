import { writeLog } from '../../http/log'
import { vendorOf } from '../../vendors'
import type { Snapshot } from '../../vendors/snapshot'
import type { Status } from '../lifecycle'
import type { Claimed } from './claim'
import { type DecodedSummary, decide } from './decide'
import { retryDelay } from './retry'

/** How an attempt at a claimed event ends. */
export type Verdict = {
  event: Claimed
  status: Extract<Status, 'processed' | 'ignored' | 'failed' | 'retrying'>
  error: string | null
  /** When the next attempt is due (ms). Null exactly when the status is final. */
  due_at: number | null
  trigger: 'ingest' | 'retry' | 'sweep' | 'replay'
  /** When the attempt began (ms). */
  started_at: number
  summary: DecodedSummary | null
  snapshots: readonly Snapshot[]
}

/**
 * Decides on a claimed event.
 *
 * @param via what sent its message, where that was the sweep
 */
export function judge(event: Claimed, via: 'sweep' | undefined): Verdict {
  const attempt = { event, trigger: triggerOf(event, via), started_at: Date.now() }
  const { vendor, vendor_event_id, body, headers } = event
  try {
    const outcome = decide(vendorOf(vendor), { vendor, vendor_event_id, body, headers: headers ?? {} })
    return { ...attempt, ...outcome, due_at: null }
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined }
    writeLog('error', 'processing_failed', { event_id: event.id, error: stack ?? message })
    return retried(attempt, message)
  }
}

/** The verdict on an attempt that failed: another one is due later, or the event has failed because its tries are used up. */
export function retried(
  { event, trigger, started_at }: Pick<Verdict, 'event' | 'trigger' | 'started_at'>,
  error: string,
): Verdict {
  const delay = retryDelay(event.tries, Math.random())
  const failed = { event, trigger, started_at, error, summary: null, snapshots: [] }
  return delay === null
    ? { ...failed, status: 'failed', due_at: null }
    : { ...failed, status: 'retrying', due_at: Date.now() + delay }
}

function triggerOf(event: Claimed, via: 'sweep' | undefined): Verdict['trigger'] {
  if (event.tries > 1) return 'retry'
  if (event.replay_id !== null) return 'replay'
  return via ?? 'ingest'
}
