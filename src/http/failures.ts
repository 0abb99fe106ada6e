import type { LimitName, Runtime } from '../env'
import { BoundedMap } from '../lib/bounded-map'
import { SECOND } from '../lib/time'
import { BLOCK_MS, MAX_BLOCKED } from './limits'
import { isWithin, rateLimited } from './rate-limit'

/**
 * Counts failures of one kind by client address, or by the address and what failed. This isolate refuses a source with too many
 * of them for a while, before any I/O. Several clients can share an address, so refuse by address alone only
 * callers who are not known to be good.
 *
 * @param name the limit that counts the failures
 * @param detail says which failures they are
 */
export function failuresBySource(name: LimitName, detail: string) {
  /** Until when each source is refused (ms). */
  const blocked = new BoundedMap<string, number>(MAX_BLOCKED)
  return {
    /** @throws {Fault} `rate_limited` if the source is blocked */
    refuseBlocked(source: string, now: number): void {
      const until = blocked.get(source)
      if (until === undefined) return
      if (until > now) throw rateLimited(name, detail, Math.ceil((until - now) / SECOND))
      blocked.delete(source)
    },

    /** Counts a failure, and blocks the source if it is over the limit. */
    async count(rt: Runtime, source: string): Promise<void> {
      if (!(await isWithin(rt.limits[name], source))) blocked.set(source, rt.now + BLOCK_MS)
    },
  }
}
