import * as z from 'zod'
import { FIELD_CODES, type FieldFault } from '../lib/fault'
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

/** What is said of one failure beside its fault. `documentation` makes an address of the path that documents the code. */
type Said = {
  detail: string
  errors?: FieldFault[] | undefined
  request_id: string
  documentation: (path: string) => string
}

/** The body of a response about a fault. */
export function problemBody(fault: FaultName, said: Said): z.infer<typeof Problem> {
  const { status, title } = ERRORS[fault]
  const code = codeOf(fault)
  const { detail, errors, request_id, documentation } = said
  return { type: documentation(`/errors#${code}`), title, status, detail, code, request_id, ...(errors && { errors }) }
}

/** An error as an example: what a caller gets for a fault, except that `detail` is not about a real request. */
export function problemExample(fault: FaultName): z.infer<typeof Problem> {
  const common = { request_id: SAMPLE.request, documentation: (path: string) => path }
  if (fault !== 'validation_failed') {
    return problemBody(fault, { ...common, detail: `${ERRORS[fault].title}. Here the response says what to do next.` })
  }
  const errors: FieldFault[] = [{ pointer: '/name', code: 'required', message: 'is required' }]
  return problemBody(fault, { ...common, detail: '`name` is required.', errors })
}
