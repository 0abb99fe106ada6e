import * as z from 'zod'
import type { FieldCode, FieldFault } from '../lib/fault'

/*
 * Messages and codes for invalid fields. Zod's own messages name its types and change with its versions.
 * A message continues a sentence that starts with the field's name: "`limit` must be at least 1."
 */

const REQUIRED = 'is required'
const NOT_SEVERAL = 'must be a single value'

/** The code of a Zod issue; any other issue is `malformed`. */
const CODES: Record<string, FieldCode> = {
  invalid_type: 'wrong_type',
  invalid_value: 'not_one_of',
  too_small: 'out_of_range',
  too_big: 'out_of_range',
}
const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
}
const FORMATS: Record<string, string> = {
  email: 'must be a valid email address',
  datetime: 'must be an RFC 3339 timestamp, for example 2026-01-31T12:00:00Z',
}

// Zod calls this for every issue whose schema has no message of its own. Only here is the value that was sent
// available.
z.config({ customError: wording })

function wording(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return REQUIRED
  switch (issue.code) {
    case 'invalid_type':
      if (Array.isArray(issue.input) && issue.expected !== 'object') return NOT_SEVERAL
      return KINDS[issue.expected] ? `must be ${KINDS[issue.expected]}` : 'has the wrong type'
    case 'invalid_value':
      return Array.isArray(issue.input) ? NOT_SEVERAL : `must be one of ${issue.values.join(', ')}`
    case 'too_small':
      return bound('least', issue.origin, issue.minimum)
    case 'too_big':
      return bound('most', issue.origin, issue.maximum)
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'has the wrong format'
    case 'unrecognized_keys':
      return `is not a known field; this call takes ${Object.keys((issue.inst as z.ZodObject).shape).join(', ')}`
    default:
      return 'is not valid'
  }
}

function bound(end: 'least' | 'most', origin: string, n: number | bigint): string {
  if (origin === 'number' || origin === 'int') return `must be at ${end} ${n}`
  if (end === 'least' && n === 1) return 'must not be empty'
  return origin === 'string' ? `must be at ${end} ${n} characters long` : `must have at ${end} ${n} items`
}

/** One Zod issue as field faults. An issue about unknown fields names several. */
export function fieldFaults(issue: z.core.$ZodIssue): FieldFault[] {
  const { message, path } = issue
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, 50)
      .map((key) => ({ pointer: pointerTo([...path, key]), code: 'unknown_field', message }))
  }
  if (issue.code === 'invalid_union') {
    // Report the issues of the alternative whose type matches the value that was sent.
    const branch = issue.errors.find((issues) => !issues.some(isOtherShape)) ?? issue.errors[0] ?? []
    return branch.flatMap((inner) => fieldFaults({ ...inner, path: [...path, ...inner.path] }))
  }
  return [{ pointer: pointerTo(path), code: codeOf(issue), message }]
}

function isOtherShape({ code, path, message }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || message === NOT_SEVERAL)
}

/**
 * Zod has dropped the value by now, so our own messages tell a missing field from a wrong one. A refinement may state
 * its code in `params.code`.
 */
function codeOf(issue: z.core.$ZodIssue): FieldCode {
  if (issue.message === REQUIRED) return 'required'
  if (issue.message === NOT_SEVERAL) return 'wrong_type'
  return (issue.code === 'custom' && issue.params?.code) || (CODES[issue.code] ?? 'malformed')
}

/** JSON Pointer (RFC 6901). */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1').slice(0, 100)}`).join('')
}
