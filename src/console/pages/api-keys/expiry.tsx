import type { Child } from 'hono/jsx'
import { Fault } from '../../../lib/fault'
import { DAY, iso } from '../../../lib/time'
import { Badge } from '../../ui/badge'
import { Field, Select, Wrong } from '../../ui/controls'

/** The expiry options of the form: never, in a number of days, or on a date. */
export const EXPIRIES = [
  ['', 'Never'],
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In 1 year'],
  ['date', 'On a date…'],
] as const

/** The options for a key that exists: it can only expire earlier. @param end when it expires now (ms); null for never */
export function earlierThan(end: number | null, now: number): [value: string, label: string][] {
  const earlier = EXPIRIES.filter(([days]) => end === null || days === 'date' || now + Number(days) * DAY < end)
  return earlier.map(([value, label]) => (value === '' ? ['', 'No change'] : [value, label]))
}

/** The most days to add to the current time. The API's own limit is lower and reports the error. */
const MAX_DAYS = 36_500

/**
 * The expiry time from the form. A date takes precedence over “Never”.
 *
 * @param sent its fields `expires`, one of {@link EXPIRIES}, and `on`, a date such as `2026-05-04`: the key expires at the end
 *   of that day in UTC
 * @returns an ISO 8601 timestamp, or null for “Never”
 * @throws {Fault} `validation_failed` for a number of days together with a date, or if the date is missing
 */
export function expiryOf(sent: URLSearchParams, now: number): string | null {
  const choice = sent.get('expires') ?? ''
  const on = sent.get('on') ?? ''
  if (choice === '' && on === '') return null
  const days = choice !== '' && choice !== 'date'
  if (days && on === '') return iso(now + Math.min(Math.max(Number(choice) || 0, 0), MAX_DAYS) * DAY)
  const end = Date.parse(`${on}T23:59:59.999Z`)
  if (!days && !Number.isNaN(end)) return iso(end)
  const message = days ? 'clear the date, or choose “On a date…”' : 'pick a date'
  throw new Fault('validation_failed', message, { errors: [{ pointer: '/expires_at', code: 'required', message }] })
}

type ExpiryProps = {
  options: readonly (readonly [string, string])[]
  entered: URLSearchParams
  hint: Child
  mistake: string | undefined
}

/** When a key expires. The style sheet shows the date only if it is the choice, or if it is wrong. */
export function ExpiryFields({ options, entered, hint, mistake }: ExpiryProps) {
  return (
    <>
      <div class={mistake ? 'pair expiry wrong-date' : 'pair expiry'}>
        <Field name="expires" label="Expires" hint={hint}>
          <Select name="expires" value={entered.get('expires') ?? ''} options={options} />
        </Field>
        <div class="on-date">
          <Field name="on" label="Date (UTC)" type="date" value={entered.get('on') ?? ''} />
        </div>
      </div>
      <Wrong>{mistake}</Wrong>
    </>
  )
}

/** A key that expires within this time (ms) is marked. */
const SOON = 14 * DAY

/** Marks a key that was revoked, has expired, or expires soon. */
export function LifeBadge({ of, now }: { of: { expires_at: number | null; revoked_at: number | null }; now: number }) {
  if (of.revoked_at !== null) return <Badge of="revoked" />
  if (of.expires_at === null || of.expires_at > now + SOON) return null
  return <Badge of={of.expires_at <= now ? 'expired' : 'expires soon'} />
}
