import type * as z from 'zod'

export type JsonObject = Record<string, unknown>

/** The named parts of the OpenAPI document, collected while its operations are described. */
export type Components = { schemas: JsonObject; examples: JsonObject }

/** Converts a schema to JSON Schema. Schemas that are {@link named} become components. */
export function toSchema(schema: z.ZodType, io: 'input' | 'output', { schemas }: Components): JsonObject {
  const { $schema: _, $defs, ...root } = jsonSchema(schema, io) as JsonObject & { $defs?: JsonObject }
  for (const [id, definition] of Object.entries($defs ?? {})) schemas[id] = relink(definition as JsonObject)
  const id = schema.meta()?.id
  if (!id) return relink(root)
  // Zod gives some schemas with an id as a reference to their own definition.
  if (!$defs?.[id]) schemas[id] = relink(root)
  return { $ref: `#/components/schemas/${id}` }
}

/** A body: its schema, and the example that {@link named} gave it. */
export function media(schema: z.ZodType, io: 'input' | 'output', components: Components): JsonObject {
  const { id, examples } = (schema.meta() ?? {}) as { id?: string; examples?: unknown[] }
  const shown = { schema: toSchema(schema, io, components) }
  if (id === undefined || examples === undefined) return shown
  components.examples[id] = { value: examples[0] }
  return { ...shown, examples: { [id]: { $ref: `#/components/examples/${id}` } } }
}

/** The query parameters of a strict object, one by one. */
export function queryParameters(schema: z.ZodType, components: Components): JsonObject[] {
  const { properties = {}, required = [] } = toSchema(schema, 'input', components) as {
    properties?: Record<string, JsonObject>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    // Sent as `name[key]=value`.
    ...(rest.type === 'object' && { style: 'deepObject', explode: true }),
    ...(description !== undefined && { description }),
    schema: rest,
  }))
}

/**
 * Leaves out the bounds of a safe integer, because API viewers would show -9007199254740991 as a sample: its format says that
 * 32 bits are too few. Leaves out the pattern of a time, because generated clients parse a time and then fail to match it, and
 * examples, which are components of their own. Objects in responses are open: fields may be added to them. It calls the schema's own
 * method: `z.toJSONSchema` does the same and adds every kind of schema to the bundle.
 */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output') {
  return schema.toJSONSchema({
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema: made }) => {
      if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum
      if (made.maximum === Number.MAX_SAFE_INTEGER) {
        delete made.maximum
        made.format = 'int64'
      }
      if (made.format !== undefined) delete made.pattern
      if (made.type === 'boolean') delete made.enum
      if (io === 'output' && made.additionalProperties === false) delete made.additionalProperties
      delete made.examples
    },
  })
}

/** What callers send as a document of its own. */
export function standalone(schema: z.ZodType): JsonObject {
  return relink(jsonSchema(schema, 'input') as JsonObject, '#/$defs/')
}

/** Rewrites `#/$defs/X` references: to the document's components, if nothing else is said. */
function relink<T>(value: T, to = '#/components/schemas/'): T {
  if (Array.isArray(value)) return value.map((one) => relink(one, to)) as T
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'id' || typeof (value as JsonObject).type !== 'string')
      .map(([key, part]) => [
        key,
        key === '$ref' && typeof part === 'string' ? part.replace('#/$defs/', to) : relink(part, to),
      ]),
  ) as T
}
