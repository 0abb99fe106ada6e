/** A JSON Schema, or any part of an OpenAPI document. */
// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
export type Json = Record<string, any>

/** The part of a document that a reference points to, or undefined. */
export function resolve(document: Json, ref: string): Json | undefined {
  let here: Json | undefined = document
  for (const key of ref.slice(2).split('/')) here = here?.[key.replaceAll('~1', '/').replaceAll('~0', '~')]
  return here
}

/**
 * Validates a value with the subset of JSON Schema that the document uses. It is stricter in one way: objects are open in
 * the document, because fields may be added, but here a field that the document does not describe is a problem.
 *
 * @returns the problems, each with its path
 */
export function misfits(document: Json, schema: Json, value: unknown, at = ''): string[] {
  if (value === null && schema.nullable) return [] // OpenAPI 3.0
  if (schema.allOf) return schema.allOf.flatMap((one: Json) => misfits(document, one, value, at))
  if (schema.$ref) {
    const named = resolve(document, schema.$ref)
    return named ? misfits(document, named, value, at) : [`${at}: ${schema.$ref} does not exist`]
  }
  const choices = (schema.anyOf ?? schema.oneOf) as Json[] | undefined
  if (choices) {
    return choices.some((one) => misfits(document, one, value, at).length === 0)
      ? []
      : [`${at}: matches none of the alternatives`]
  }
  if (schema.const !== undefined && schema.const !== value) return [`${at}: is not ${schema.const}`]
  if (schema.enum && !schema.enum.includes(value)) return [`${at}: ${value} is not one of ${schema.enum}`]
  const is = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  const types: string[] | null = schema.type === undefined ? null : [schema.type].flat()
  const fits = types === null || types.includes(is) || (types.includes('integer') && Number.isInteger(value))
  if (!fits) return [`${at}: ${is} is not ${types}`]
  if (schema.pattern && typeof value === 'string' && !new RegExp(schema.pattern).test(value)) {
    return [`${at}: ${value} does not match ${schema.pattern}`]
  }
  if (schema.format === 'date-time' && is === 'string' && !isTime(value as string)) {
    return [`${at}: ${value} is not a time in UTC`]
  }
  if (Array.isArray(value)) return value.flatMap((one, i) => misfits(document, schema.items ?? {}, one, `${at}/${i}`))
  if (is !== 'object') return []
  return misfitsOfObject(document, schema, value as Json, at)
}

const isTime = (text: string) => /^[-\d]+T[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text))

function misfitsOfObject(document: Json, schema: Json, value: Json, at: string): string[] {
  const { properties = {}, required = [], additionalProperties } = schema
  const missing = (required as string[])
    .filter((key) => !Object.hasOwn(value, key))
    .map((key) => `${at}/${key}: is missing`)
  const inside = Object.entries(value).flatMap(([key, one]) => {
    if (Object.hasOwn(properties, key)) return misfits(document, properties[key], one, `${at}/${key}`)
    if (typeof additionalProperties === 'object') return misfits(document, additionalProperties, one, `${at}/${key}`)
    const closed = additionalProperties === undefined && Object.keys(properties).length > 0
    return closed || additionalProperties === false ? [`${at}/${key}: is not in the schema`] : []
  })
  return [...missing, ...inside]
}
