import type * as z from 'zod'
import { invalid } from '../http/validate'
import { Fault } from '../lib/fault'
import { sentence } from './ui/format'

/** The errors in a form by field name. Errors that belong to no field are under `form`. */
export type Mistakes = Record<string, string>

/** Why a form was refused, and the status of the page that shows it again. */
export type Refusal = { mistakes: Mistakes; status: 200 | 409 | 422 }

/** A form that has not been submitted. */
export const UNSENT: Refusal = { mistakes: {}, status: 200 }

/** Validates a form's fields with the API's own schema. @throws {Fault} `validation_failed` */
export function parse<T extends z.ZodType>(schema: T, fields: unknown): z.infer<T> {
  const result = schema.safeParse(fields)
  if (!result.success) throw invalid(result.error.issues)
  return result.data
}

/** Converts an error to messages for the form. @throws the error itself if the user cannot fix it */
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

/**
 * Adds the filled-in fields of a filter form to a query, from the address that the form leads to. A time without a zone
 * is in UTC.
 */
export function addFilled(query: URLSearchParams, sent: URLSearchParams, names: readonly string[]): void {
  for (const name of names) {
    const text = sent.get(name)?.trim() ?? ''
    const local = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)
    if (text !== '') query.set(name, local ? `${text.padEnd(19, ':00')}Z` : text)
  }
}
