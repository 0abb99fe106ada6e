import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import { Fault, type FieldFault } from '../lib/fault'
import { readBytes } from './body'
import { fieldFaults } from './issues'
import { META, remember } from './meta'

/** Bytes of a JSON body of the plane; the ingest address has its own, larger bound. */
export const MAX_BODY_BYTES = 64 * 1024
/** Bytes that are read to see that a body is nothing. */
const MAX_NOTHING_BYTES = 64

/** Validates the JSON body: `c.req.valid('json')`. Give a strict object, so that a misspelt field is refused. */
export function body<T extends z.ZodType>(schema: T) {
  return remember(zValidator('json', schema, refuse), { body: schema })
}

/** Validates the query: `c.req.valid('query')`. Give a strict object, so that a misspelt filter is refused. */
export function query<T extends z.ZodType>(schema: T) {
  return remember(zValidator('query', schema, refuse), { query: schema })
}

function refuse(result: { success: boolean; error?: { issues: readonly z.core.$ZodIssue[] } }): void {
  if (!result.success && result.error) throw invalid(result.error.issues)
}

/** Before {@link body}: media type, then size, both refused without reading on; then that the bytes are UTF-8. */
export const jsonBody: MiddlewareHandler = async (c, next) => {
  const type = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new Fault('unsupported_media_type', 'Send the body as Content-Type: application/json.')
  }
  const bytes = await readBytes(c.req.raw, MAX_BODY_BYTES)
  requireUtf8(bytes)
  c.req.raw = new Request(c.req.raw, { body: bytes })
  await next()
}

/** Left alone, the parser would put U+FFFD in the place of what it cannot read, and keep that. */
function requireUtf8(bytes: Uint8Array): void {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new Fault('invalid_json', 'Send one JSON value, in UTF-8, as the body.')
  }
}

/**
 * For a call that takes no body: one that is sent all the same would look as if it had been heeded. `{}` asks for nothing.
 *
 * @throws {Fault} `validation_failed`
 */
export async function requireNoBody(request: Request): Promise<void> {
  if (request.body === null) return
  const sent = await readBytes(request, MAX_NOTHING_BYTES).catch(() => null)
  if (sent && /^\s*(\{\s*\})?\s*$/.test(new TextDecoder().decode(sent))) return
  throw invalidField('', 'unknown_field', 'must be empty; this call takes parameters only in its path and query')
}

/** Whether one of the handlers that serve this request validates what META names. */
export function takes(part: 'body' | 'query', handlers: readonly { handler: unknown }[]): boolean {
  return handlers.some(({ handler }) => META.get(handler as object)?.[part] !== undefined)
}

/** Zod's issues as one 422 with a JSON Pointer a field. */
export function invalid(issues: readonly z.core.$ZodIssue[]): Fault {
  return invalidFields(issues.slice(0, 50).flatMap(fieldFaults))
}

/** One invalid field. `message` continues a sentence that starts with the field's name: "must be …". */
export function invalidField(pointer: string, code: string, message: string): Fault {
  return invalidFields([{ pointer, code, message }])
}

function invalidFields(errors: FieldFault[]): Fault {
  const { pointer = '', message = 'is not valid' } = errors[0] ?? {}
  const field = pointer === '' ? 'The body' : `\`${pointer.slice(1).replaceAll('/', '.')}\``
  const more = errors.length > 1 ? ` \`errors\` lists ${errors.length - 1} more.` : ''
  return new Fault('validation_failed', `${field} ${message}.${more}`, { errors })
}
