import type { FaultName } from './faults'

/** What can be wrong with a field. docs/reference/api.md explains the codes: add to them, never change one. */
export const FIELD_CODES = [
  'required',
  'wrong_type',
  'out_of_range',
  'not_one_of',
  'malformed',
  'unknown_field',
  'public_suffix',
  'reserved',
] as const
export type FieldCode = (typeof FIELD_CODES)[number]

/** One invalid field. `pointer` is a JSON Pointer (RFC 6901) into the body or the query: `/name`. */
export type FieldFault = { pointer: string; code: FieldCode; message: string }

/** An expected failure. `detail` tells the caller what to do next and never holds a secret. */
export class Fault extends Error {
  override readonly name = 'Fault'
  constructor(
    readonly fault: FaultName,
    readonly detail: string,
    readonly extra: {
      errors?: FieldFault[]
      headers?: Record<string, string>
      missing?: string
      /** The single sign-on connection to sign in with. */
      connection?: string
      /** The API key that was used from elsewhere, and where it works. For this isolate alone: callers do not see it. */
      elsewhere?: { id: string; project_id: string; networks: readonly string[] }
      cause?: unknown
    } = {},
  ) {
    super(`${fault}: ${detail}`, extra.cause === undefined ? undefined : { cause: extra.cause })
  }
}

/**
 * What a caller asks for is not there: "Domain not found in this project." A project that the caller does not reach
 * looks the same.
 */
export function notFound(noun: string, where = 'in this project'): Fault {
  return new Fault('not_found', `${noun} not found ${where}.`)
}

/** The row that a read by id found. @throws {Fault} `not_found` */
export function requireFound<T>([row]: readonly T[], noun: string, where?: string): T {
  if (row === undefined) throw notFound(noun, where)
  return row
}

/** A name in the path of a call that creates something. `rule` continues a sentence: "must have …". */
export function malformedInPath(what: string, rule: string): Fault {
  return new Fault('validation_failed', `The ${what} in the path ${rule}.`, {
    errors: [{ pointer: '', code: 'malformed', message: rule }],
  })
}
