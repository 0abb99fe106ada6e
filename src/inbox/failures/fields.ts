import * as z from 'zod'
import { count, exampleOf, named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { idTime } from '../../lib/ids'
import { DAY, iso, isoDay } from '../../lib/time'
import { eventAdvice } from '../../vendors/event-errors'
import { EventErrorCode } from '../events/present'
import { type CauseRow, isCut } from './failures'
import { FAILURE_DAYS, MAX_FAILURE_CAUSES, MAX_FAILURES } from './limits'

const Cause = named(
  'FailureCause',
  z.object({
    connection_id: z.string(),
    vendor: z.string(),
    livemode: z.boolean().describe("The connection's mode."),
    error_code: EventErrorCode.nullable().describe(
      'The `last_error_code` of these events. Null for errors from before codes were recorded.',
    ),
    count: count.describe(`How many of the newest ${MAX_FAILURES.toLocaleString('en')} failed events have this cause.`),
    first_received_at: timestamp.describe('When the oldest of these events was received.'),
    last_received_at: timestamp.describe('When the newest of these events was received.'),
    last_event_id: z.string().describe('The newest of these events.'),
    last_error: z.string().nullable().describe('The `last_error` of the newest.'),
    replay_may_succeed: z
      .boolean()
      .describe('Whether a replay may succeed. If not, a replay would fail in the same way.'),
    days: z
      .array(z.object({ date: z.iso.date(), count }))
      .describe(`Events by day of receipt (UTC), for the last ${FAILURE_DAYS} days, the oldest first.`),
  }),
  {
    connection_id: SAMPLE.connection,
    vendor: 'stripe',
    livemode: true,
    error_code: 'vendor_key_refused',
    count: 491,
    first_received_at: SAMPLE.time,
    last_received_at: SAMPLE.later,
    last_event_id: SAMPLE.event,
    last_error: 'the vendor does not accept the API key of the connection',
    replay_may_succeed: true,
    days: [{ date: '2026-11-21', count: 491 }],
  },
)

export const Failures = named(
  'Failures',
  z.object({
    data: z.array(Cause).describe(`At most ${MAX_FAILURE_CAUSES}, those with the most events first.`),
    truncated: z
      .boolean()
      .describe(
        `Whether there may be more failed events or causes: only the newest ${MAX_FAILURES.toLocaleString('en')} failed events are grouped, and at most ${MAX_FAILURE_CAUSES} causes are listed.`,
      ),
  }),
  { data: [exampleOf(Cause)], truncated: false },
)

export function presentFailures(rows: readonly CauseRow[], now: number): z.infer<typeof Failures> {
  return {
    data: rows.map((row) => ({
      connection_id: row.connection_id,
      vendor: row.vendor,
      livemode: row.livemode,
      error_code: row.last_error_code,
      count: row.n,
      first_received_at: iso(idTime(row.first)),
      last_received_at: iso(idTime(row.last)),
      last_event_id: row.last,
      last_error: row.last_error,
      replay_may_succeed: eventAdvice(row.last_error_code, row.vendor).mayPass,
      days: lastDays(row, now),
    })),
    truncated: isCut(rows),
  }
}

/** How many events were received on each of the last days, the oldest first. */
export function lastDays({ days }: Pick<CauseRow, 'days'>, now: number): { date: string; count: number }[] {
  const today = Math.floor(now / DAY)
  return Array.from({ length: FAILURE_DAYS }, (_, i) => {
    const day = today - FAILURE_DAYS + 1 + i
    return { date: isoDay(day * DAY), count: days[day] ?? 0 }
  })
}
