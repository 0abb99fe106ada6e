import { zValidator } from '@hono/zod-validator'
import type { Context, MiddlewareHandler } from 'hono'
import * as z from 'zod'
import { Fault, type FieldCode, type FieldFault } from '../lib/fault'
import { addressOf } from './address'
import { readBytes } from './body'
import { coverRequest } from './idempotency'
import { fieldFaults } from './issues'
import { META, remember } from './meta'

/** The largest JSON body, in bytes, of a call that states no other limit. */
export const MAX_BODY_BYTES = 64 * 1024
/** How many bytes are read to see whether a body is empty. */
const MAX_NOTHING_BYTES = 64

/**
 * Validates the JSON body: `c.req.valid('json')`. Pass a strict object, so that a misspelled field is refused.
 *
 * @param most the largest body, in bytes
 * @param first looks at what was sent before the schema does, and throws what refuses it
 */
export function body<T extends z.ZodType>(schema: T, most = MAX_BODY_BYTES, first?: (sent: unknown) => void) {
  const looked = (sent: unknown) => {
    first?.(sent)
    return sent
  }
  const checked = first ? (z.preprocess(looked, schema) as unknown as T) : schema
  return remember(zValidator('json', checked, validated), { body: schema, bodyBytes: most })
}

/** As {@link body}, for a body that may be left out: `schema.prefault({})`. */
export function optionalBody<T extends z.ZodType>(schema: T) {
  const given = schema instanceof z.ZodPrefault ? (schema.unwrap() as z.ZodType) : schema
  return remember(zValidator('json', schema, validated), { body: given, bodyOptional: true })
}

/**
 * Validates the query: `c.req.valid('query')`. Pass a strict object, so that a misspelled filter is refused. A field that
 * is a record is sent as `field[key]=value`.
 */
export function query<T extends z.ZodType>(schema: T) {
  return remember(zValidator('query', gathering(schema), refuse), { query: schema })
}

/** The schema, over a query whose `field[key]` are gathered into one record for each field that takes a record. */
function gathering<T extends z.ZodType>(schema: T): T {
  const names = recordsOf(schema)
  if (names.length === 0) return schema
  const gather = (sent: unknown) => {
    const plain: [string, unknown][] = []
    const records = new Map<string, [string, unknown][]>()
    for (const [key, value] of Object.entries(sent as Record<string, unknown>)) {
      const [, name = '', inner = ''] = /^(\w+)\[(.*)\]$/s.exec(key) ?? []
      // A record has no entry of this name, so it stays as it is, and is refused.
      if (names.includes(name) && inner !== '__proto__')
        records.set(name, [...(records.get(name) ?? []), [inner, value]])
      else plain.push([key, value])
    }
    return Object.fromEntries([
      ...plain,
      ...[...records].map(([name, pairs]) => [name, Object.fromEntries(pairs)] as const),
    ])
  }
  return z.preprocess(gather, schema) as unknown as T
}

/** The names of an object's fields that are records. */
export function recordsOf(schema: z.ZodType): string[] {
  if (!(schema instanceof z.ZodObject)) return []
  const isRecord = (field: unknown): boolean =>
    field instanceof z.ZodOptional ? isRecord(field.unwrap()) : field instanceof z.ZodRecord
  return Object.keys(schema.shape).filter((name) => isRecord(schema.shape[name]))
}

async function validated(result: Parameters<typeof refuse>[0] & { data?: unknown }, c: Context): Promise<void> {
  refuse(result)
  await coverRequest(c, result.data)
}

function refuse(result: { success: boolean; error?: { issues: readonly z.core.$ZodIssue[] } }): void {
  if (!result.success && result.error) throw invalid(result.error.issues)
}

/**
 * Runs before {@link body}. Checks the media type, then the size (reading stops at the limit), then that it is UTF-8.
 */
export async function jsonBody(c: Context, next: () => Promise<void>, most = MAX_BODY_BYTES): Promise<void> {
  const type = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new Fault('unsupported_media_type', 'Send the body as Content-Type: application/json.')
  }
  const bytes = await readBytes(c.req.raw, most, [addressOf(c)])
  requireUtf8(bytes)
  c.req.raw = new Request(c.req.raw, { body: bytes })
  await next()
}

/** As {@link jsonBody}, before {@link optionalBody}: a body that is empty or `{}` may have any media type. */
export const optionalJsonBody: MiddlewareHandler = async (c, next) => {
  const bytes = c.req.raw.body === null ? null : await readBytes(c.req.raw, MAX_BODY_BYTES, [addressOf(c)])
  const isEmpty = bytes === null || isNothing(bytes)
  c.req.raw = new Request(c.req.raw, { body: isEmpty ? '{}' : bytes })
  return isEmpty ? next() : jsonBody(c, next)
}

function isNothing(bytes: Uint8Array): boolean {
  return /^\s*(\{\s*\})?\s*$/.test(new TextDecoder().decode(bytes))
}

/** Without this check, the parser would replace invalid bytes with U+FFFD and the replacement would be stored. */
function requireUtf8(bytes: Uint8Array): void {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new Fault('invalid_json', 'Send one JSON value in UTF-8 as the body.')
  }
}

/**
 * Refuses a body on a call that takes none, because the caller would think that it had an effect. An empty body and
 * `{}` pass.
 *
 * @throws {Fault} `validation_failed`, `body_timeout`, `body_incomplete`, `overloaded`
 */
export async function requireNoBody(c: Context): Promise<void> {
  if (c.req.raw.body === null) return
  const sent = await readBytes(c.req.raw, MAX_NOTHING_BYTES, [addressOf(c)]).catch((error) => {
    if (error instanceof Fault && error.fault === 'payload_too_large') return null
    throw error
  })
  if (sent && isNothing(sent)) return
  throw invalidField('', 'unknown_field', 'must be empty; this call takes parameters only in its path and query')
}

/** Whether one of the handlers of this request validates its body or query; `bodyOptional`: a body that may be left out. */
export function takes(part: 'body' | 'bodyOptional' | 'query', handlers: readonly { handler: unknown }[]): boolean {
  return handlers.some(({ handler }) => META.get(handler as object)?.[part] !== undefined)
}

/** The largest body that a handler of this request takes (bytes). */
export function bodyBytes(handlers: readonly { handler: unknown }[]): number | undefined {
  return handlers.map(({ handler }) => META.get(handler as object)?.bodyBytes).find((most) => most !== undefined)
}

/** Zod's issues as one 422, with a JSON Pointer for each field. */
export function invalid(issues: readonly z.core.$ZodIssue[]): Fault {
  return invalidFields(issues.slice(0, 50).flatMap(fieldFaults))
}

/** One invalid field. `message` continues a sentence that starts with the field's name: "must be …". */
export function invalidField(pointer: string, code: FieldCode, message: string): Fault {
  return invalidFields([{ pointer, code, message }])
}

/** Several invalid fields: see {@link invalidField}. */
export function invalidFields(errors: FieldFault[]): Fault {
  const { pointer = '', message = 'is not valid' } = errors[0] ?? {}
  const field = pointer === '' ? 'The body' : `\`${pointer.slice(1).replaceAll('/', '.')}\``
  const more = errors.length > 1 ? ` \`errors\` lists ${errors.length - 1} more.` : ''
  return new Fault('validation_failed', `${field} ${message}.${more}`, { errors })
}
