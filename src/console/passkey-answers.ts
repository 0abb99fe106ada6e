import type * as z from 'zod'
import { invalidField } from '../http/validate'
import { Fault } from '../lib/fault'
import { ERRORS } from '../lib/faults'
import { needsConfirmation, needsPasskey } from './lead'
import type { Visit } from './page'
import { parse } from './refusal'
import { isNotSignedIn } from './session'

/** Responds with options for the browser, or with a sentence on why there are none. The script of passkeys reads it. */
export async function optionsFor(c: Visit, make: () => Promise<object>): Promise<Response> {
  try {
    return c.json(await make(), 200)
  } catch (error) {
    if (!(error instanceof Fault) || isNotSignedIn(error) || needsConfirmation(error) || needsPasskey(error))
      throw error
    c.get('log').code = error.fault
    return c.json({ detail: error.detail }, ERRORS[error.fault].status)
  }
}

/** The fields of a form that a passkey answered. @throws {Fault} `validation_failed` */
export function answeredFields<T extends z.ZodType>(schema: T, form: URLSearchParams, more: object = {}): z.infer<T> {
  return parse(schema, { ...more, credential: jsonIn(form.get('credential') ?? '') })
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidField('/credential', 'malformed', 'must be what the browser returned')
  }
}
