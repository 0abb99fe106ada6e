import type * as z from 'zod'
import { invalid } from '../http/validate'
import { Fault } from '../lib/fault'
import { sentence } from './ui/format'

/** What is wrong with a form, by field; `form` where it is none of the fields. */
export type Mistakes = Record<string, string>

/** Why a form is shown again, and the status it is shown with. */
export type Refusal = { mistakes: Mistakes; status: 200 | 409 | 422 }

/** A form that nobody has sent yet. */
export const UNSENT: Refusal = { mistakes: {}, status: 200 }

/** A form's fields by the API's own schema. @throws {Fault} `validation_failed` */
export function parse<T extends z.ZodType>(schema: T, fields: unknown): z.infer<T> {
  const result = schema.safeParse(fields)
  if (!result.success) throw invalid(result.error.issues)
  return result.data
}

/** A failure as something to say in the form. @throws what is not for its reader to mend */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof Fault)) throw error
  if (error.fault === 'validation_failed') {
    const faults = error.extra.errors ?? []
    const mistakes = faults.map(({ pointer, message }) => [pointer.split('/')[1] || 'form', sentence(message)])
    return { mistakes: Object.fromEntries(mistakes.reverse()), status: 422 }
  }
  if (!/limit_reached|conflict|rotation_of/.test(error.fault)) throw error
  return { mistakes: { form: error.detail }, status: 409 }
}
