/**
 * Vendors' times → ISO 8601 UTC, in the precision they came in: billing orders events by these digits, and a JS Date
 * holds three of them.
 */

const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:[Zz]|([+-])(\d{2}):?(\d{2}))$/

/** An RFC 3339 time → the same instant in UTC, every fraction digit kept; null for anything else. */
export function isoTime(value: unknown): string | null {
  const match = typeof value === 'string' ? RFC3339.exec(value) : null
  if (!match) return null
  const [, date, clock, fraction = '', sign, hours, minutes] = match
  const local = Date.parse(`${date}T${clock}Z`)
  // Date.parse lets 30 February roll over into March: such a time is no time.
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(`${date}T${clock}`)) return null
  const offset = sign ? (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1) : 0
  const seconds = isoOf(local - offset)
  return seconds && `${seconds.slice(0, -5)}${fraction}Z`
}

/** Seconds since the epoch → ISO 8601 in whole seconds. */
export function isoSeconds(value: unknown): string | null {
  const iso = typeof value === 'number' ? isoOf(Math.floor(value) * 1000) : null
  return iso && `${iso.slice(0, -5)}Z`
}

/** Milliseconds since the epoch → ISO 8601 in milliseconds. */
export function isoMillis(value: unknown): string | null {
  return typeof value === 'number' ? isoOf(Math.floor(value)) : null
}

/** Years of four digits alone: a longer one would sort before them as text. */
function isoOf(ms: number): string | null {
  if (!(Math.abs(ms) <= 8.64e15)) return null
  const iso = new Date(ms).toISOString()
  return /^\d{4}-/.test(iso) ? iso : null
}
