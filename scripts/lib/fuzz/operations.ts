import type { Json } from '../json-schema.ts'

/** An operation of the document. `segments`: its path's parts, parameters in braces. */
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

/** What a server does with a path before it looks for a route: dot segments and the like are put in order. */
export function pathOf(target: string): string {
  return new URL(target, 'http://fuzz.test').pathname
}

/** The operation that serves a request, if one does; HEAD is served as GET. Fixed parts go before parameters. */
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
