/*
 * Lag as a log-spaced histogram: bin 0 holds 0 ms, bin n ≥ 1 holds (RATIO^(n-1) … RATIO^n] ms. A percentile read off
 * it is at most half a bin away from the exact one: 1 %.
 */
const RATIO = 1.02
const LOG_RATIO = Math.log(RATIO)

/** The bin of a lag in milliseconds. */
export function binOf(lagMs: number): number {
  return lagMs < 1 ? 0 : 1 + Math.ceil(Math.log(lagMs) / LOG_RATIO - 1e-9)
}

/** The lag in milliseconds that a bin stands for: its geometric middle. */
export function lagOf(bin: number): number {
  return bin === 0 ? 0 : RATIO ** (bin - 1.5)
}
