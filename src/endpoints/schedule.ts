import { JITTER, RETRY_WAITS } from './limits'

/** How long to wait after so many failed attempts (ms), at least one; null if there is none after that. */
export function retryWait(failed: number): number | null {
  const wait = RETRY_WAITS[failed - 1]
  return wait === undefined ? null : jittered(wait)
}

/** The same for an endpoint that is failing: it gets an attempt at least once a day. */
export function probeWait(failed: number): number {
  return jittered(RETRY_WAITS[Math.min(failed, RETRY_WAITS.length) - 1] as number)
}

function jittered(ms: number): number {
  return Math.round(ms * (1 + JITTER * (2 * Math.random() - 1)))
}
