type Operation = {
  operationId: string
  summary: string
  parameters?: { name: string; in: string }[]
  responses: Record<string, { content?: object }>
  'x-required-scope'?: string
}
/** Each operation by its id: method, path, and why a `POST` can be sent again. */
export type CallTable = Record<string, [method: string, path: string, again?: 'key' | 'reads']>

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** What the client has to know of each operation that it has a method for. */
export function callTable(document: string): CallTable {
  return Object.fromEntries(
    operations(document).map(({ operation, method, path }) => {
      const again = method === 'post' ? whyAgain(operation) : undefined
      return [operation.operationId, [method.toUpperCase(), path, ...(again ? [again] : [])]] as const
    }),
  ) as CallTable
}

/** The source of the client's module `calls`: that table, and the type of each method. */
export function callSource(document: string): string {
  const types = operations(document).map(
    ({ operation: { operationId, summary }, method, path }) =>
      `  /** ${summary}: \`${method.toUpperCase()} ${path}\` */\n  ${operationId}: Call<'${operationId}'>`,
  )
  return `import type { Call } from './call-types.js'
import type { CallTable } from './connect.js'

/** A method for each call of the API. */
export interface Calls {
${types.join('\n')}
}

export const CALLS: CallTable = ${JSON.stringify(callTable(document), null, 2)}
`
}

/** The operations that return JSON or nothing. The metrics are text. */
function operations(document: string) {
  const { paths } = JSON.parse(document) as { paths: Record<string, Record<string, Operation>> }
  return Object.entries(paths).flatMap(([path, its]) =>
    METHODS.flatMap((method) => {
      const operation = its[method]
      const isText = operation?.responses['200'] !== undefined && operation.responses['200'].content === undefined
      if (!operation || isText) return []
      mustHaveNamesApart(operation)
      return [{ operation, method, path }]
    }),
  )
}

/** A method takes the parameters of path and query, and the body, in one object. */
function mustHaveNamesApart({ operationId, parameters = [] }: Operation): void {
  const names = [
    'body',
    ...parameters.flatMap(({ name, in: place }) => (place === 'path' || place === 'query' ? [name] : [])),
  ]
  if (new Set(names).size < names.length) throw new Error(`${operationId} has two parameters of one name: ${names}`)
}

function whyAgain({ parameters = [], 'x-required-scope': scope }: Operation): 'key' | 'reads' | undefined {
  if (parameters.some(({ name }) => name === 'Idempotency-Key')) return 'key'
  return scope?.endsWith(':read') ? 'reads' : undefined
}
