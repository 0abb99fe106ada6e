import { Fault } from '../lib/fault'
import { writeLog } from './log'

/**
 * Counts one request against a rate limit. The binding counts per Cloudflare location and returns only yes or no, so
 * the limit is approximate.
 *
 * @throws {Fault} `rate_limited` (429, with Retry-After)
 */
export async function limit(limiter: RateLimit, key: string, detail: string): Promise<void> {
  if (!(await isWithin(limiter, key))) throw new Fault('rate_limited', `${detail} Wait and try again.`)
}

/**
 * Counts one request, and says whether it is within the limit. A limiter that fails lets it through: limits protect the
 * service from too much, and must not themselves be what stops it.
 */
export async function isWithin(limiter: RateLimit, key: string): Promise<boolean> {
  try {
    return (await limiter.limit({ key })).success
  } catch (error) {
    writeLog('error', 'rate_limit_not_checked', { error: String(error) })
    return true
  }
}
