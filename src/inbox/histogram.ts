/*
 * Lag as a log-spaced histogram: bin 0 holds 0 ms, bin n ≥ 1 holds (RATIO^(n-1) … RATIO^n] ms. A percentile that is
 * read off it differs from the exact one by half a bin at most: 1 %.
 */
const RATIO = 1.02
const LOG_RATIO = Math.log(RATIO)

/** A histogram as stored: bin → count; and the greatest lag in it (ms). */
type Stored = { lag: Readonly<Record<string, number>>; lag_max: number }

/** The bin of a lag in milliseconds. */
export function binOf(lagMs: number): number {
  return lagMs < 1 ? 0 : 1 + Math.ceil(Math.log(lagMs) / LOG_RATIO - 1e-9)
}

/** The lag in milliseconds that a bin stands for: its geometric middle. */
export function lagOf(bin: number): number {
  return bin === 0 ? 0 : RATIO ** (bin - 1.5)
}

/**
 * Percentiles of several stored histograms together, by nearest rank.
 *
 * @returns milliseconds, within 1 % and never above the greatest lag; null if there is none
 */
export function lagPercentiles(histograms: readonly Stored[]) {
  const counts = new Map<number, number>()
  for (const { lag } of histograms) {
    for (const [bin, n] of Object.entries(lag)) counts.set(Number(bin), (counts.get(Number(bin)) ?? 0) + n)
  }
  const bins = [...counts].sort(([a], [b]) => a - b)
  const max = histograms.reduce((greatest, { lag_max }) => Math.max(greatest, lag_max), 0)
  const read = (p: number) => {
    const bin = binAt(bins, p)
    return bin === null ? null : Math.min(max, Math.round(lagOf(bin) * 100) / 100)
  }
  return { p50_ms: read(50), p95_ms: read(95), p99_ms: read(99) }
}

/** The bin that holds the percentile `p`, of bins in ascending order. */
function binAt(bins: readonly [number, number][], p: number): number | null {
  const total = bins.reduce((sum, [, n]) => sum + n, 0)
  const rank = Math.max(1, Math.ceil((p / 100) * total))
  let seen = 0
  for (const [bin, n] of bins) {
    seen += n
    if (seen >= rank) return bin
  }
  return null
}
