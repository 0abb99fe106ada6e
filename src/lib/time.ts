export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Milliseconds since the epoch → ISO 8601 UTC with milliseconds, the API's only time format. */
export function iso(ms: number): string {
  return new Date(ms).toISOString()
}

/** Milliseconds since the epoch → the day in UTC: `YYYY-MM-DD`. */
export function isoDay(ms: number): string {
  return iso(ms).slice(0, 10)
}

/** As {@link iso}, keeping null. */
export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms)
}
