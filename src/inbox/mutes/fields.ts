import * as z from 'zod'
import { named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { invalidField } from '../../http/validate'
import { iso, isoOrNull } from '../../lib/time'
import type { MuteRow } from './mutes'

export const MuteBody = named(
  'MuteCause',
  z.strictObject({
    until: z.iso
      .datetime({ offset: true })
      .nullable()
      .describe('When the mute ends. It must be in the future. Null: when somebody unmutes the cause.'),
  }),
  { until: SAMPLE.end },
)

/** What is shown of a mute, besides its cause. */
export const MuteFields = z.object({
  until: timestamp.nullable().describe('When it ends; null if somebody has to end it.'),
  muted_at: timestamp,
  muted_by: z.string().describe('The id of the user or API key.'),
})

export const MUTE_SAMPLE = { until: SAMPLE.end, muted_at: SAMPLE.later, muted_by: SAMPLE.user }

export function presentMuted({ until, muted_at, muted_by }: MuteRow): z.infer<typeof MuteFields> {
  return { until: isoOrNull(until), muted_at: iso(muted_at), muted_by }
}

/** When a mute ends (ms); null if somebody has to end it. @throws {Fault} `validation_failed` for a time that has passed */
export function untilOf({ until }: z.infer<typeof MuteBody>, now: number): number | null {
  const time = until === null ? null : Date.parse(until)
  if (time !== null && time <= now) throw invalidField('/until', 'out_of_range', 'must be in the future')
  return time
}
