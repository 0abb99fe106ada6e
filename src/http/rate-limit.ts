import type { Runtime } from '../env'
import { Fault } from '../lib/fault'
import { RATE_LIMITS, RETRY_AFTER } from './limits'
import { writeLog } from './log'

/** The name of a limit, as callers see it in `RateLimit` and `RateLimit-Policy`. */
export type LimitName = keyof Runtime['limits']

/**
 * Counts one request against a rate limit. The binding counts per Cloudflare location and returns only yes or no, so
 * the limit is approximate.
 *
 * @throws {Fault} `rate_limited` (429, with Retry-After)
 */
export async function limit(limits: Runtime['limits'], name: LimitName, key: string, detail: string): Promise<void> {
  if (!(await isWithin(limits[name], key))) throw rateLimited(name, detail, RETRY_AFTER)
}

/**
 * Counts one request, and says whether it is within the limit. A limiter that fails lets it through: limits protect the
 * service from overload, and must not stop it themselves.
 */
export async function isWithin(limiter: RateLimit, key: string): Promise<boolean> {
  try {
    return (await limiter.limit({ key })).success
  } catch (error) {
    writeLog('error', 'rate_limit_not_checked', { error: String(error) })
    return true
  }
}

/**
 * The refusal of a caller over a limit. It states the limit in the fields of draft-ietf-httpapi-ratelimit-headers. They
 * are not sent with other responses, because the binding does not say how much remains.
 *
 * @param seconds how long to wait
 */
export function rateLimited(name: LimitName, detail: string, seconds: number): Fault {
  return overLimit({ name, ...RATE_LIMITS[name] }, `${detail} Wait and try again.`, seconds)
}

/** As {@link rateLimited}, for a limit of so many requests in a window (seconds) that is not one of the bindings. */
export function overLimit(
  { name, requests, window }: { name: string; requests: number; window: number },
  detail: string,
  seconds: number,
): Fault {
  return new Fault('rate_limited', detail, {
    headers: {
      'Retry-After': String(seconds),
      RateLimit: `"${name}";r=0;t=${seconds}`,
      'RateLimit-Policy': `"${name}";q=${requests};w=${window}`,
    },
  })
}
