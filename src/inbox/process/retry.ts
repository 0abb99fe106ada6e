import { RETRY_DELAYS_MS, RETRY_JITTER } from './limits'

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
