import * as z from 'zod'
import type { FieldFault } from '../lib/fault'

/*
 * What is wrong with a field, in words and codes of our own: Zod's speak of its types, and change with its versions.
 * A message goes on from the field's name: "`limit` has to be at least 1."
 */

const REQUIRED = 'is required'
const NOT_SEVERAL = 'has to be one value, not several'

/** The code of an issue; what is not here is `malformed`. Stated in docs/api.md: added to, never changed. */
const CODES: Record<string, string> = {
  invalid_type: 'wrong_type',
  invalid_value: 'not_one_of',
  too_small: 'out_of_range',
  too_big: 'out_of_range',
}
const KINDS: Record<string, string> = {
  string: 'a text',
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}
const FORMATS: Record<string, string> = { email: 'an e-mail address', datetime: 'a time, as 2026-01-31T12:00:00Z' }

// Asked wherever a schema has no message of its own, and the one place that sees what was sent.
z.config({ customError: wording })

function wording(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return REQUIRED
  switch (issue.code) {
    case 'invalid_type':
      if (Array.isArray(issue.input) && issue.expected !== 'object') return NOT_SEVERAL
      return `has to be ${KINDS[issue.expected] ?? 'of another type'}`
    case 'invalid_value':
      return Array.isArray(issue.input) ? NOT_SEVERAL : `has to be one of ${issue.values.join(', ')}`
    case 'too_small':
      return bound('least', issue.origin, issue.minimum)
    case 'too_big':
      return bound('most', issue.origin, issue.maximum)
    case 'invalid_format':
      return `has to be ${FORMATS[issue.format] ?? 'of another form'}`
    case 'unrecognized_keys':
      return `is not known here: this takes ${Object.keys((issue.inst as z.ZodObject).shape).join(', ')}`
    default:
      return 'is not valid'
  }
}

function bound(end: 'least' | 'most', origin: string, n: number | bigint): string {
  if (origin === 'number' || origin === 'int') return `has to be at ${end} ${n}`
  if (end === 'least' && n === 1) return 'may not be empty'
  return `has to have at ${end} ${n} ${origin === 'string' ? 'characters' : 'entries'}`
}

/** One of Zod's issues as faults of fields: unknown ones come several to an issue. */
export function fieldFaults(issue: z.core.$ZodIssue): FieldFault[] {
  const { message, path } = issue
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 50).map((key) => ({ pointer: pointer([...path, key]), code: 'unknown_field', message }))
  }
  if (issue.code === 'invalid_union') {
    // Of the shapes a value may have, the one that it was meant to have.
    const branch = issue.errors.find((issues) => !issues.some(isOtherShape)) ?? issue.errors[0] ?? []
    return branch.flatMap((inner) => fieldFaults({ ...inner, path: [...path, ...inner.path] }))
  }
  return [{ pointer: pointer(path), code: codeOf(issue), message }]
}

function isOtherShape({ code, path, message }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || message === NOT_SEVERAL)
}

/** Zod drops what was sent, but for what our own message says of it. A refinement states its code, if it has one. */
function codeOf(issue: z.core.$ZodIssue): string {
  if (issue.message === REQUIRED) return 'required'
  if (issue.message === NOT_SEVERAL) return 'wrong_type'
  return (issue.code === 'custom' && issue.params?.code) || (CODES[issue.code] ?? 'malformed')
}

/** JSON Pointer (RFC 6901). */
function pointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1').slice(0, 100)}`).join('')
}
