import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import { Fault, type FieldFault } from '../lib/fault'
import { readBytes } from './body'
import { META, remember } from './meta'

/** Bytes of a JSON body of the plane; the ingest address has its own, larger bound. */
export const MAX_BODY_BYTES = 64 * 1024

/** Validates the JSON body: `c.req.valid('json')`. Give a strict object, so that a misspelt field is refused. */
export function body<T extends z.ZodType>(schema: T) {
  return remember(zValidator('json', schema, refuse), { body: schema })
}

/** Validates the query: `c.req.valid('query')`. Give a strict object, so that a misspelt filter is refused. */
export function query<T extends z.ZodType>(schema: T) {
  return remember(zValidator('query', schema, refuse), { query: schema })
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

/** Whether one of the handlers that serve this request validates what META names. */
export function takes(part: 'body' | 'query', handlers: readonly { handler: unknown }[]): boolean {
  return handlers.some(({ handler }) => META.get(handler as object)?.[part] !== undefined)
}

function refuse(result: { success: boolean; error?: { issues: readonly z.core.$ZodIssue[] } }): void {
  if (!result.success && result.error) throw invalid(result.error.issues)
}

/** Zod's issues as one 422 with a JSON Pointer a field. */
export function invalid(issues: readonly z.core.$ZodIssue[]): Fault {
  const errors = issues.slice(0, 50).flatMap(fieldFaults)
  return new Fault('validation_failed', `Mend what \`errors\` lists: ${errors[0]?.message ?? 'invalid value'}.`, {
    errors,
  })
}

function fieldFaults(issue: z.core.$ZodIssue): FieldFault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 50).map((key) => ({
      pointer: pointer([...issue.path, key]),
      code: 'unknown_field',
      message: 'this field is not known here',
    }))
  }
  return [{ pointer: pointer(issue.path), code: issue.code, message: issue.message }]
}

/** JSON Pointer (RFC 6901). */
function pointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1').slice(0, 100)}`).join('')
}
