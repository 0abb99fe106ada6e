import type * as z from 'zod'
import { invalidField } from '../../http/validate'
import { notFound } from '../../lib/fault'
import type { MutedCause } from '../mutes/mutes'
import { codeNamed, type MuteBody } from './fields'

/** The cause that an address names. @throws {Fault} `not_found` if there is no such code */
export function failureCause(project_id: string, connection_id: string, code: string): MutedCause {
  if (codeNamed(code) === undefined) throw notFound('Error code')
  return { project_id, connection_id, kind: 'failed', code }
}

/** When a mute ends (ms); null if somebody has to end it. @throws {Fault} `validation_failed` for a time that has passed */
export function untilOf({ until }: z.infer<typeof MuteBody>, now: number): number | null {
  const time = until === null ? null : Date.parse(until)
  if (time !== null && time <= now) throw invalidField('/until', 'out_of_range', 'must be in the future')
  return time
}
