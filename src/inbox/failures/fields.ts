import * as z from 'zod'
import { count, exampleOf, named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { idTime } from '../../lib/ids'
import { DAY, iso, isoDay } from '../../lib/time'
import { type EventErrorCode as Code, EVENT_ERROR_CODES, eventAdvice } from '../../vendors/event-errors'
import { EventErrorCode } from '../events/present'
import { MUTE_SAMPLE, MuteFields, presentMuted } from '../mutes/fields'
import { MAX_MUTES } from '../mutes/limits'
import type { MuteRow } from '../mutes/mutes'
import { NO_CODE } from '../mutes/schema'
import { type CauseRow, isCut } from './failures'
import { FAILURE_DAYS, MAX_FAILURE_CAUSES, MAX_FAILURES } from './limits'

export const FailureMute = named(
  'FailureMute',
  z.object({
    connection_id: z.string(),
    error_code: EventErrorCode.nullable(),
    ...MuteFields.shape,
  }),
  { connection_id: SAMPLE.connection, error_code: 'vendor_key_refused', ...MUTE_SAMPLE },
)

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
    mute: FailureMute.nullable().describe('Null if the cause is not muted.'),
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
    mute: exampleOf(FailureMute),
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
    mutes: z
      .array(FailureMute)
      .describe(
        `All muted causes of failed events, including those without failed events. A project can mute ${MAX_MUTES} causes: failures and refusals together.`,
      ),
  }),
  { data: [exampleOf(Cause)], truncated: false, mutes: [exampleOf(FailureMute)] },
)

export function presentFailures(
  rows: readonly CauseRow[],
  mutes: readonly MuteRow[],
  now: number,
): z.infer<typeof Failures> {
  const mutedAs = muteOf(mutes)
  const presented = (mute: MuteRow | null) => mute && presentMute(mute)
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
      mute: presented(mutedAs(row)),
    })),
    truncated: isCut(rows),
    mutes: mutes.map(presentMute),
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

/** The code of a cause in an address. @returns undefined if it is none; null for events without a code */
export function codeNamed(text: string): Code | null | undefined {
  return text === NO_CODE ? null : EVENT_ERROR_CODES.find((code) => code === text)
}

type Named = Pick<CauseRow, 'connection_id' | 'last_error_code'>

/** Finds the mute of a cause among those of its project. */
export function muteOf(mutes: readonly MuteRow[]): (row: Named) => MuteRow | null {
  const keyOf = (connection: string, code: string) => `${connection} ${code}`
  const failed = mutes.filter(({ kind }) => kind === 'failed')
  const byCause = new Map(failed.map((mute) => [keyOf(mute.connection_id, mute.code), mute]))
  return ({ connection_id, last_error_code }) => byCause.get(keyOf(connection_id, last_error_code ?? NO_CODE)) ?? null
}

export function presentMute(row: MuteRow): z.infer<typeof FailureMute> {
  return { connection_id: row.connection_id, error_code: codeNamed(row.code) ?? null, ...presentMuted(row) }
}
