import { Fault } from '../lib/fault'

/**
 * Counts one request against a rate limit. The binding counts per Cloudflare location and returns only yes or no, so
 * the limit is approximate.
 *
 * @throws {Fault} `rate_limited` (429, with Retry-After)
 */
export async function limit(limiter: RateLimit, key: string, detail: string): Promise<void> {
  const { success } = await limiter.limit({ key })
  if (!success) throw new Fault('rate_limited', `${detail} Wait and try again.`)
}
