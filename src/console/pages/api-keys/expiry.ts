import { Fault } from '../../../lib/fault'
import { DAY, iso } from '../../../lib/time'

/** When a key may expire, as the form offers it: in so many days, at the end of a date, or never. */
export const EXPIRIES = [
  ['', 'Never'],
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['date', 'On a date …'],
] as const

/** Days that a key may be given by their number. */
const MAX_DAYS = 36_500

/**
 * The chosen end of a key. A date that is given is meant, whatever is chosen.
 *
 * @param choice one of {@link EXPIRIES}
 * @param on a date, `2026-05-04`: the key expires at its end, in UTC
 * @returns a time in ISO 8601, or null for never
 * @throws {Fault} `validation_failed`
 */
export function expiryOf(choice: string, on: string, now: number): string | null {
  if (choice === '' && on === '') return null
  const days = choice !== '' && choice !== 'date'
  if (days && on === '') return iso(now + Math.min(Math.max(Number(choice) || 0, 0), MAX_DAYS) * DAY)
  const end = Date.parse(`${on}T23:59:59.999Z`)
  if (!days && !Number.isNaN(end)) return iso(end)
  const message = days ? 'clear the date, or choose “On a date …”' : 'pick the date'
  throw new Fault('validation_failed', message, { errors: [{ pointer: '/expires_at', code: 'required', message }] })
}
