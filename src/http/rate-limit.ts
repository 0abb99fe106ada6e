import { Fault } from '../lib/fault'

/**
 * Counts one request against a limiter. The binding counts per Cloudflare location and answers only yes or no, so
 * no exact quota is promised.
 *
 * @throws {Fault} `rate_limited` (429, with Retry-After)
 */
export async function limit(limiter: RateLimit, key: string, detail: string): Promise<void> {
  const { success } = await limiter.limit({ key })
  if (!success) throw new Fault('rate_limited', `${detail} Wait, then try again.`)
}
