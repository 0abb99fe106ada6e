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

/** Several stored histograms added up. */
export class Histogram {
  private readonly bins = new Map<number, number>()
  private total = 0
  private max = 0

  /** Adds one as it is stored: JSON, bin → count; and the greatest lag in it (ms). */
  add(stored: string, max: number): void {
    this.max = Math.max(this.max, max)
    for (const [bin, n] of Object.entries(JSON.parse(stored) as Record<string, number>)) {
      this.bins.set(Number(bin), (this.bins.get(Number(bin)) ?? 0) + n)
      this.total += n
    }
  }

  /** The nearest-rank percentile in milliseconds, within 1 % and never above the greatest; null where there is nothing. */
  percentile(p: number): number | null {
    if (this.total === 0) return null
    const rank = Math.max(1, Math.ceil((p / 100) * this.total))
    let seen = 0
    for (const [bin, n] of [...this.bins].sort(([a], [b]) => a - b)) {
      seen += n
      if (seen >= rank) return Math.min(this.max, Math.round(lagOf(bin) * 100) / 100)
    }
    return null
  }
}
