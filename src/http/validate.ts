import type { Context, MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import { Fault, type FieldFault } from '../lib/fault'
import { readBytes } from './body'
import type { HttpEnv } from './context'
import { fieldFaults } from './issues'
import { META, remember } from './meta'

/** Bytes of a JSON body of the plane; the ingest address has its own, larger bound. */
export const MAX_BODY_BYTES = 64 * 1024
/** Bytes that are read to see that a body is nothing. */
const MAX_NOTHING_BYTES = 64

type Part = 'json' | 'query'
type Validator<P extends Part, T extends z.ZodType> = MiddlewareHandler<
  HttpEnv,
  string,
  { in: { [K in P]: z.input<T> }; out: { [K in P]: z.output<T> } }
>

/** Validates the JSON body: `c.req.valid('json')`. Give a strict object, so that a misspelt field is refused. */
export function body<T extends z.ZodType>(schema: T) {
  return remember(validator('json', schema, readJson), { body: schema })
}

/** Validates the query: `c.req.valid('query')`. Give a strict object, so that a misspelt filter is refused. */
export function query<T extends z.ZodType>(schema: T) {
  return remember(validator('query', schema, readQuery), { query: schema })
}

function validator<P extends Part, T extends z.ZodType>(
  part: P,
  schema: T,
  read: (c: Context<HttpEnv>) => unknown,
): Validator<P, T> {
  return async (c, next) => {
    const { success, data, error } = schema.safeParse(await read(c))
    if (!success) throw invalid(error.issues)
    c.req.addValidatedData(part, data as object)
    await next()
  }
}

/** A parameter that is given several times is a list. */
function readQuery(c: Context<HttpEnv>): unknown {
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  )
}

/** The media type, then the size, are refused without reading on. */
async function readJson(c: Context<HttpEnv>): Promise<unknown> {
  const type = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new Fault('unsupported_media_type', 'Send the body as Content-Type: application/json.')
  }
  const bytes = await readBytes(c.req.raw, MAX_BODY_BYTES)
  try {
    // Fatal: left alone, the decoder would put U+FFFD in the place of what it cannot read, and that would be kept.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes))
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
  throw invalidField('', 'unknown_field', 'has to be empty: what this call takes is in its path and query')
}

/** Whether one of the handlers that serve this request validates what META names. */
export function takes(part: 'body' | 'query', handlers: readonly { handler: unknown }[]): boolean {
  return handlers.some(({ handler }) => META.get(handler as object)?.[part] !== undefined)
}

/** Zod's issues as one 422 with a JSON Pointer a field. */
export function invalid(issues: readonly z.core.$ZodIssue[]): Fault {
  return invalidFields(issues.slice(0, 50).flatMap(fieldFaults))
}

/** One field that a rule refuses. `message` goes on from its name: "has to be …". */
export function invalidField(pointer: string, code: string, message: string): Fault {
  return invalidFields([{ pointer, code, message }])
}

function invalidFields(errors: FieldFault[]): Fault {
  const { pointer = '', message = 'is not valid' } = errors[0] ?? {}
  const field = pointer === '' ? 'The body' : `\`${pointer.slice(1).replaceAll('/', '.')}\``
  const more = errors.length > 1 ? ` \`errors\` lists ${errors.length - 1} more.` : ''
  return new Fault('validation_failed', `${field} ${message}.${more}`, { errors })
}
