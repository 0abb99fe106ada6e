import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { authenticate, authorize } from './auth'
import type { HttpEnv } from './context'
import { type Operation, remember } from './meta'
import { invalid, jsonBody, takes } from './validate'

/**
 * The first middleware of every route: states who may call it and what it answers, and holds requests to that, in
 * this order: credential, permission, unknown query parameters, body size and type. Validators come after it.
 */
export function route(operation: Operation): MiddlewareHandler<HttpEnv> {
  const middleware: MiddlewareHandler<HttpEnv> = async (c, next) => {
    if (operation.policy) authorize(c, operation.policy, await authenticate(c, operation.policy))
    const handlers = matchedRoutes(c)
    if (!takes('query', handlers)) {
      const keys = Object.keys(c.req.query())
      if (keys.length > 0) throw invalid([{ code: 'unrecognized_keys', keys, path: [], message: '' }])
    }
    if (!takes('body', handlers)) return next()
    return jsonBody(c, next)
  }
  return remember(middleware, { operation })
}
