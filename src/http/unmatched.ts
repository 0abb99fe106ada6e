import type { Hono } from 'hono'
import { Fault } from '../lib/fault'
import type { HttpEnv } from './context'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The methods that a path supports (HEAD wherever GET is); empty for an unknown path. */
export function allowedMethods(app: Hono<HttpEnv>, path: string): string[] {
  const allowed = METHODS.filter((method) =>
    app.router.match(method, path)[0].some(([[, { method: of }]]) => of === method),
  )
  return allowed.includes('GET') ? ['HEAD', ...allowed] : allowed
}

/** The fault for a request that matches no route. */
export function notFoundOrMethod(allowed: readonly string[]): Fault {
  if (allowed.length === 0) return noPath()
  const Allow = allowed.join(', ')
  return new Fault('method_not_allowed', `This path supports ${Allow}.`, { headers: { Allow } })
}

/** For a path that this deployment does not have. */
export function noPath(): Fault {
  return new Fault('not_found', 'Path not found. /openapi.json lists the paths of this API.')
}
