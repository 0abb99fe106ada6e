import type * as z from 'zod'
import { type JsonObject, standalone } from '../http/schemas'
import { invalid } from '../http/validate'

/** The JSON that the API answers with. */
export type ApiAnswer = Record<string, unknown>

type Declared<S extends z.ZodRawShape> = {
  /** The method and path of the call. The path's parameters are arguments of the tool. */
  call: `${'GET' | 'POST'} /platform/v1/${string}`
  title: string
  description: string
  input: z.ZodObject<S>
  /** What the query always has. */
  always?: Record<string, string>
  /** How to ask for less than an answer that is too large, besides a smaller `limit`: a sentence. */
  less?: string
  /** What is shown of the answer: all of it by default. @throws {Fault} */
  show?: (answer: ApiAnswer) => object
}

/** A call of the API, and what is shown of its answer. */
export type ApiCall = { method: string; path: string; show: (answer: ApiAnswer) => object; less: string | null }

/** A tool: one call of the API that changes nothing. */
export type Tool = {
  call: string
  title: string
  description: string
  /** Built on demand: building all of them would be the slowest step of an isolate's start. */
  inputSchema: () => JsonObject
  /**
   * The call that these arguments ask for.
   *
   * @throws {Fault} `validation_failed`
   */
  ask: (args: unknown) => ApiCall
}

/** A tool, from its declaration. */
export function tool<S extends z.ZodRawShape>(declared: Declared<S>): Tool {
  const { call, title, description, input, less = null, show = (answer) => answer } = declared
  const ask: Tool['ask'] = (sent) => {
    const { success, data, error } = input.safeParse(sent ?? {})
    if (!success) throw invalid(error.issues)
    return { ...addressed(declared, data as Record<string, unknown>), show, less }
  }
  return { call, title, description, inputSchema: () => lean(standalone(input)), ask }
}

/** The method, and the path with its query. Values are escaped, and none can be `.` or `..`: their schemas see to that. */
function addressed<S extends z.ZodRawShape>({ call, always = {} }: Declared<S>, args: Record<string, unknown>) {
  const [method = '', template = ''] = call.split(' ')
  const inPath = new Set<string>()
  const path = template.replaceAll(/:(\w+)/g, (_, name: string) => {
    inPath.add(name)
    return encodeURIComponent(String(args[name]))
  })
  const query = new URLSearchParams(always)
  for (const [name, value] of Object.entries(args)) {
    if (inPath.has(name) || value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one))
  }
  return { method, path: query.size === 0 ? path : `${path}?${query}` }
}

/**
 * A schema as models and clients read it best: each definition in its place, because some clients resolve no references, and without
 * what `format` says already.
 */
function lean({ $schema: _, $defs = {}, ...schema }: JsonObject): JsonObject {
  const inPlace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inPlace)
    if (value === null || typeof value !== 'object') return value
    const { $ref, ...rest } = value as JsonObject
    const named = typeof $ref === 'string' ? ($defs as JsonObject)[$ref.replace('#/$defs/', '')] : {}
    const entries = Object.entries({ ...(named as JsonObject), ...rest })
    const isRedundant = (key: string) => key === 'pattern' && rest.format === 'date-time'
    return Object.fromEntries(entries.filter(([key]) => !isRedundant(key)).map(([key, part]) => [key, inPlace(part)]))
  }
  return inPlace(schema) as JsonObject
}
