import type { Runtime } from '../env'
import { BoundedMap } from '../lib/bounded-map'
import { SECOND } from '../lib/time'
import { BLOCK_MS, MAX_BLOCKED } from './limits'
import { isWithin, type LimitName, rateLimited } from './rate-limit'

/**
 * Counts failures of one kind by client address. This isolate refuses an address with too many of them for a while,
 * before any I/O. Several clients can share an address, so ask for a block only if the caller is not known to be good.
 *
 * @param name the limit that counts the failures
 * @param detail says which failures they are
 */
export function failuresByAddress(name: LimitName, detail: string) {
  /** Until when each address is refused (ms). */
  const blocked = new BoundedMap<string, number>(MAX_BLOCKED)
  return {
    /** @throws {Fault} `rate_limited` if the address is blocked */
    refuseBlocked(address: string, now: number): void {
      const until = blocked.get(address)
      if (until === undefined) return
      if (until > now) throw rateLimited(name, detail, Math.ceil((until - now) / SECOND))
      blocked.delete(address)
    },

    /** Counts a failure, and blocks the address if it is over the limit. */
    async count(rt: Runtime, address: string): Promise<void> {
      if (!(await isWithin(rt.limits[name], address))) blocked.set(address, rt.now + BLOCK_MS)
    },
  }
}
