import * as z from 'zod'
import { count, exampleOf, named, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { MUTE_SAMPLE, MuteFields, presentMuted } from '../inbox/mutes/fields'
import type { MuteRow } from '../inbox/mutes/mutes'
import { iso, MINUTE } from '../lib/time'
import type { RefusedFor } from './read'

/** The hours in which refused deliveries are counted by cause. */
export const REFUSAL_HOURS = 24

export const RefusalMute = named(
  'RefusalMute',
  z.object({ code: z.string().describe('The code of the refusals.'), ...MuteFields.shape }),
  { code: 'signature_mismatch', ...MUTE_SAMPLE },
)

const Refusal = named(
  'Refusal',
  z.object({
    code: z.string().describe('The error code of the responses.'),
    count,
    last_minute: timestamp.nullable().describe('The last minute in which there was one; null if there was none.'),
    mute: RefusalMute.nullable().describe('Null if the cause is not muted.'),
  }),
  { code: 'signature_mismatch', count: 12, last_minute: SAMPLE.time, mute: exampleOf(RefusalMute) },
)

export const Refusals = named(
  'Refusals',
  z.object({
    data: z
      .array(Refusal)
      .describe('Those with the most deliveries first, then muted causes for which none was refused.'),
  }),
  { data: [exampleOf(Refusal)] },
)

/** A cause for which deliveries were refused, or that is muted. `minute`: null if none was refused. */
export type RefusalCause = Omit<RefusedFor, 'minute'> & { minute: number | null; mute: MuteRow | null }

/** Causes with their mutes. Muted causes for which nothing was refused come last. */
export function withMutes(refusals: readonly RefusedFor[], mutes: readonly MuteRow[]): RefusalCause[] {
  const muteOf = (cause: string) => mutes.find(({ code }) => code === cause) ?? null
  const rest = mutes.filter(({ code }) => !refusals.some(({ cause }) => cause === code))
  return [
    ...refusals.map((row) => ({ ...row, mute: muteOf(row.cause) })),
    ...rest.map((mute) => ({ cause: mute.code, n: 0, minute: null, mute })),
  ]
}

export function presentRefusalMute(row: MuteRow): z.infer<typeof RefusalMute> {
  return { code: row.code, ...presentMuted(row) }
}

export function presentRefusals(causes: readonly RefusalCause[]): z.infer<typeof Refusals> {
  const data = causes.map(({ cause, n, minute, mute }) => ({
    code: cause,
    count: n,
    last_minute: minute === null ? null : iso(minute * MINUTE),
    mute: mute && presentRefusalMute(mute),
  }))
  return { data }
}
