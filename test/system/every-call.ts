import { callTable } from '../../scripts/lib/client-calls.ts'

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
  operationId: string
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
 * @param named whether the client also has a method for each operation
 */
export function everyCall(document: string, client: string, named: boolean): string {
  const calls = callsOf(document).flatMap(({ byPath, byName }) => [byPath, ...(named && byName ? [byName] : [])])
  const start = `import { createClient } from '${client}'\nconst api = createClient({ baseUrl: '' })\n`
  return `${start}${calls.map((call) => `await ${call}`).join('\n')}\n`
}

/** Each operation of the document, with the code that makes its call by its path, and by its name; null if it has no method. */
export function callsOf(document: string): { id: string; byPath: string; byName: string | null }[] {
  const { paths, components } = JSON.parse(document) as Document
  const methods = callTable(document)
  return Object.entries(paths).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = operations[method]
      if (!operation) return []
      const { operationId: id } = operation
      const least = leastOf(operation, components.schemas)
      return [{ id, byPath: callOf(method, path, least), byName: id in methods ? methodOf(id, least) : null }]
    }),
  )
}

type Least = { params: Record<string, Record<string, unknown>>; body?: unknown }

/** The parameters and the body that an operation requires. */
function leastOf({ parameters = [], requestBody }: Operation, schemas: Document['components']['schemas']): Least {
  const params: Least['params'] = {}
  for (const { name, in: place, schema } of parameters.filter((one) => one.required && one.in !== 'cookie')) {
    params[place] = { ...params[place], [name]: least(schema, schemas) }
  }
  if (!requestBody?.required) return { params }
  const json = requestBody.content['application/json']
  // A body that is no JSON is a delivery of a vendor, as text.
  return { params, body: json ? least(json.schema, schemas) : '' }
}

function callOf(method: string, path: string, { params, ...body }: Least): string {
  const given = { ...(Object.keys(params).length > 0 && { params }), ...body }
  return `api.${method.toUpperCase()}('${path}'${Object.keys(given).length > 0 ? `, ${JSON.stringify(given)}` : ''})`
}

/** The same call by its name. */
function methodOf(id: string, { params, ...body }: Least): string {
  const given = { ...params.path, ...params.query, ...body }
  return `api.${id}(${Object.keys(given).length > 0 ? JSON.stringify(given) : ''})`
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
