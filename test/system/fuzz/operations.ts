import type { Json } from '../../harness/json-schema.ts'

/** An operation of the document. `segments`: the parts of its path, with parameters in braces. */
export type Operation = { method: string; template: string; segments: string[]; spec: Json }

export function operationsOf(document: Json): Operation[] {
  return Object.entries<Json>(document.paths).flatMap(([template, item]) =>
    Object.entries<Json>(item).map(([method, spec]) => ({
      method: method.toUpperCase(),
      template,
      segments: template.split('/').slice(1),
      spec,
    })),
  )
}

export const isParameter = (segment: string) => segment.startsWith('{')

/** Normalizes a path as the server does before routing: it resolves dot segments, for example. */
export function pathOf(target: string): string {
  return new URL(target, 'http://fuzz.test').pathname
}

/** The operation that matches a request, or null. HEAD matches GET. Fixed segments win over parameters. */
export function operationOf(operations: readonly Operation[], method: string, target: string): Operation | null {
  const parts = pathOf(target).split('/').slice(1)
  const served = method === 'HEAD' ? 'GET' : method
  const fitting = operations.filter(
    (one) =>
      one.method === served &&
      one.segments.length === parts.length &&
      one.segments.every((segment, i) => (isParameter(segment) ? parts[i] !== '' : segment === parts[i])),
  )
  const fixed = (one: Operation) => one.segments.filter((segment) => !isParameter(segment)).length
  return fitting.sort((a, b) => fixed(b) - fixed(a))[0] ?? null
}
