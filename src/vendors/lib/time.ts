/*
 * Vendors' times to ISO 8601 UTC, with all of their digits: billing orders events by them, and a JS Date keeps only
 * milliseconds.
 */

const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:[Zz]|([+-])(\d{2}):?(\d{2}))$/

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Converts an RFC 3339 time to UTC, keeping every digit of the fraction; null for anything else. */
export function isoTime(value: unknown): string | null {
  const match = typeof value === 'string' ? RFC3339.exec(value) : null
  if (!match) return null
  const [, date, clock, fraction = '', sign, hours, minutes] = match
  const local = Date.parse(`${date}T${clock}Z`)
  // Date.parse turns 30 February into a day in March: such a time is not valid.
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(`${date}T${clock}`)) return null
  const offset = sign ? (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1) : 0
  const seconds = isoOf(local - offset)
  return seconds && `${seconds.slice(0, -5)}${fraction}Z`
}

/** Converts seconds since the epoch to ISO 8601 in whole seconds. */
export function isoSeconds(value: unknown): string | null {
  const iso = typeof value === 'number' ? isoOf(Math.floor(value) * 1000) : null
  return iso && `${iso.slice(0, -5)}Z`
}

/** A time with a date, as milliseconds since the epoch; null if the value is none. */
export function millisOf(value: unknown): number | null {
  const iso = isoTime(value)
  return iso === null ? null : Date.parse(iso)
}

/** Converts milliseconds since the epoch to ISO 8601 in milliseconds. */
export function isoMillis(value: unknown): string | null {
  return typeof value === 'number' ? isoOf(Math.floor(value)) : null
}

/** The start of a calendar day (`2026-02-28`) in UTC. Vendors that send days do not say in which time zone. */
export function startOfDay(value: unknown): string | null {
  return typeof value === 'string' && DAY.test(value) ? isoTime(`${value}T00:00:00Z`) : null
}

/** The end of a calendar day in UTC, which is the start of the next one. */
export function endOfDay(value: unknown): string | null {
  const start = startOfDay(value)
  return start === null ? null : isoSeconds(Date.parse(start) / 1000 + 86_400)
}

/** Only for years of four digits: as text, longer ones would sort before them. */
function isoOf(ms: number): string | null {
  if (!(Math.abs(ms) <= 8.64e15)) return null
  const iso = new Date(ms).toISOString()
  return /^\d{4}-/.test(iso) ? iso : null
}
