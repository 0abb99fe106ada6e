import * as z from 'zod'
import { FIELD_CODES } from '../lib/fault'
import { codeOf, ERRORS, FAULTS, type FaultName } from '../lib/faults'
import { named } from './fields'
import { SAMPLE } from './samples'

const CODES = [...new Set(FAULTS.map(codeOf))]

const FieldError = named(
  'FieldError',
  z.object({
    pointer: z.string().describe('A JSON Pointer into the body or the query.'),
    code: named('FieldErrorCode', z.enum(FIELD_CODES)),
    message: z.string(),
  }),
)

/** The body of every error, as the OpenAPI document shows it. */
export const Problem = named(
  'Problem',
  z.object({
    type: z.string().meta({ format: 'uri-reference' }).describe('The documentation of the code.'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What to do next.'),
    code: named('ErrorCode', z.enum(CODES)).describe(
      'Stable: write code against this field. Codes may be added, so expect others too.',
    ),
    request_id: z.string(),
    errors: z.array(FieldError).optional().describe('On 422: one entry for each invalid field.'),
  }),
)

/** An error as an example: what a caller gets for a fault, except that `detail` is not about a real request. */
export function problemExample(fault: FaultName): z.infer<typeof Problem> {
  const { status, title } = ERRORS[fault]
  const code = codeOf(fault)
  const [detail, errors] =
    fault === 'validation_failed'
      ? ['`name` is required.', [{ pointer: '/name', code: 'required' as const, message: 'is required' }]]
      : [`${title}. Here the response says what to do next.`]
  return { type: `/errors#${code}`, title, status, detail, code, request_id: SAMPLE.request, ...(errors && { errors }) }
}
