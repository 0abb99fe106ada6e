type Schema = {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minItems?: number
}
type Operation = {
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> }
}
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } }

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/**
 * A program that makes every call of the API with no more than what the call requires, for a compiler to check: a client
 * whose types demand a field that the API does not is refused by it.
 *
 * @param document the OpenAPI document
 * @param client what the program imports `createClient` from
 */
export function everyCall(document: string, client: string): string {
  const { paths, components } = JSON.parse(document) as Document
  const calls = Object.entries(paths).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = operations[method]
      return operation ? [callOf(method, path, operation, components.schemas)] : []
    }),
  )
  const start = `import { createClient } from '${client}'\nconst api = createClient({ baseUrl: '' })\n`
  return `${start}${calls.join('\n')}\n`
}

function callOf(
  method: string,
  path: string,
  operation: Operation,
  schemas: Document['components']['schemas'],
): string {
  const needed = (operation.parameters ?? []).filter((one) => one.required && one.in !== 'cookie')
  const params: Record<string, Record<string, unknown>> = {}
  for (const { name, in: place, schema } of needed) params[place] = { ...params[place], [name]: least(schema, schemas) }
  const { required, content } = operation.requestBody ?? { content: {} }
  const json = content['application/json']
  const given = {
    ...(needed.length > 0 && { params }),
    // A body that is no JSON is a delivery of a vendor, as text.
    ...(required && { body: json ? least(json.schema, schemas) : '' }),
  }
  const args = Object.keys(given).length > 0 ? `, ${JSON.stringify(given)}` : ''
  return `await api.${method.toUpperCase()}('${path}'${args})`
}

/** The smallest value of a schema's type: an object with the fields that it requires. */
function least(schema: Schema, schemas: Document['components']['schemas']): unknown {
  const { $ref, anyOf, oneOf, allOf, type, properties = {}, required = [], items, minItems = 0 } = schema
  if ($ref) return least(schemas[$ref.slice('#/components/schemas/'.length)] ?? {}, schemas)
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  const [first] = anyOf ?? oneOf ?? []
  if (first) return least(first, schemas)
  if (allOf) return Object.assign({}, ...allOf.map((one) => least(one, schemas)))
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return 'text'
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return minItems > 0 && items ? Array.from({ length: minItems }, () => least(items, schemas)) : []
    case 'object':
      return Object.fromEntries(required.map((name) => [name, least(properties[name] ?? {}, schemas)]))
    default:
      return {}
  }
}
