import { and, type Column, gt, isNull, or, type SQL } from 'drizzle-orm'

/**
 * Whether a grant is live: it was not revoked and has not expired. One that has not started is live too.
 *
 * @param now milliseconds
 */
export function isLive({ revoked_at, expires_at }: { revoked_at: Column; expires_at: Column }, now: number | SQL) {
  return and(isNull(revoked_at), or(isNull(expires_at), gt(expires_at, now)))
}
