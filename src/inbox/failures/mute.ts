import { notFound } from '../../lib/fault'
import type { MutedCause } from '../mutes/mutes'
import { codeNamed } from './fields'

/** The cause that an address names. @throws {Fault} `not_found` if there is no such code */
export function failureCause(project_id: string, connection_id: string, code: string): MutedCause {
  if (codeNamed(code) === undefined) throw notFound('Error code')
  return { project_id, connection_id, kind: 'failed', code }
}
