import type { JsonObject } from './schemas'

/**
 * The same document in OpenAPI 3.0, for the many generators that do not read 3.1. It says a little less: a key of a map may be any
 * text, and a value of several types is any value. Where a value may stand for a list of one, only the list is left:
 * in a query they look the same.
 */
export function inOpenApi30(document: JsonObject): JsonObject {
  const info = document.info as { license: { name: string } }
  const license = { name: info.license.name } // 3.0 knows no identifier
  return { ...(convert(document) as JsonObject), openapi: '3.0.3', info: { ...info, license } }
}

/** Converts the schemas in a part of the document. */
function convert(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(convert)
  if (typeof part !== 'object' || part === null) return part
  return mapValues(part, (value, key) => {
    if (key === 'schema') return asSchema(value)
    if (key === 'schemas') return mapValues(value as JsonObject, asSchema)
    return key === 'example' || key === 'examples' ? value : convert(value)
  })
}

const asSchema = (value: unknown) => schemaOf(value as JsonObject)

/** One schema, and those inside it. */
function schemaOf(source: JsonObject): JsonObject {
  const { anyOf, const: only, propertyNames: _, type, ...made } = source as JsonObject & { anyOf?: JsonObject[] }
  const all = [type ?? []].flat()
  const types = all.filter((name) => name !== 'null')
  if (only !== undefined) made.type = typeof only
  else if (types.length === 1) made.type = types[0]
  // Generators write a list of one boolean as code that does not run.
  if (only !== undefined && typeof only !== 'boolean') made.enum = [only]
  if (made.properties) made.properties = mapValues(made.properties as JsonObject, asSchema)
  for (const key of ['items', 'additionalProperties'])
    if (typeof made[key] === 'object') made[key] = asSchema(made[key])
  // Where no type is left, any value fits. To generators, null does only if the schema says so.
  const any = made.type === undefined && made.$ref === undefined && anyOf === undefined
  if (any || types.length < all.length) made.nullable = true
  return anyOf ? chosen(anyOf, made) : alone(made)
}

/** A choice: between null and something, or between a value and a list of such values. */
function chosen(choices: JsonObject[], made: JsonObject): JsonObject {
  const others = choices.filter(({ type }) => type !== 'null').map(schemaOf)
  const nullable = others.length < choices.length && { nullable: true }
  const taken = others.length === 1 ? others[0] : others.find(({ type }) => type === 'array')
  return alone({ ...(taken ?? { anyOf: others }), ...made, ...nullable })
}

/** In 3.0 nothing may stand beside a reference, and few tools know a default of null. */
function alone(schema: JsonObject): JsonObject {
  const { $ref, default: preset, ...rest } = schema
  const more = preset === undefined || preset === null ? rest : { ...rest, default: preset }
  if ($ref === undefined) return more
  return Object.keys(more).length === 0 ? { $ref } : { allOf: [{ $ref }], ...more }
}

function mapValues(object: object, change: (value: unknown, key: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))
}
