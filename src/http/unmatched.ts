import type { Hono } from 'hono'
import { Fault } from '../lib/fault'
import type { HttpEnv } from './context'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The methods that a path is served under, HEAD with GET; empty for a path that is not served at all. */
export function allowedMethods(app: Hono<HttpEnv>, path: string): string[] {
  const allowed = METHODS.filter((method) =>
    app.router.match(method, path)[0].some(([[, { method: of }]]) => of === method),
  )
  return allowed.includes('GET') ? ['HEAD', ...allowed] : allowed
}

/** What a request that met no route is told. */
export function notFoundOrMethod(allowed: readonly string[]): Fault {
  if (allowed.length === 0)
    return new Fault('not_found', 'Nothing is served under this path: /openapi.json lists what is.')
  const Allow = allowed.join(', ')
  return new Fault('method_not_allowed', `This path takes ${Allow}.`, { headers: { Allow } })
}
