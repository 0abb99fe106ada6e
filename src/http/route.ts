import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { authenticate } from './auth'
import type { HttpEnv } from './context'
import { answerRepeat, coverRequest, openClaim } from './idempotency'
import { type Answering, matchedRoute, type Operation, type Responses, remember } from './meta'
import { settle } from './read'
import { bodyBytes, invalid, jsonBody, optionalJsonBody, requireNoBody, takes } from './validate'

/**
 * The first middleware of every route. It documents the route and enforces its policy in this order: credentials,
 * permission, Idempotency-Key, then no query and no body on a route that takes none. Validators follow it, and a handler that
 * replies with {@link answer}.
 */
export function route<R extends Responses>(operation: Operation<R>): MiddlewareHandler<HttpEnv, string, Answering<R>> {
  const middleware: MiddlewareHandler<HttpEnv> = async (c, next) => {
    const { policy } = operation
    if (!policy) return handle(c, operation, next)
    await authenticate(c, policy)
    try {
      await handle(c, operation, next)
    } finally {
      await outranked(c)
    }
  }
  return remember(middleware, { operation })
}

async function handle(c: Context<HttpEnv>, operation: Operation, next: () => Promise<void>) {
  // A path such as `/webhooks/health` also matches `/webhooks/:event_id`, which takes other things.
  const path = matchedRoute(c)?.path
  const handlers = matchedRoutes(c).filter((one) => one.path === path)
  await openClaim(c, operation)
  if (!takes('query', handlers)) {
    const keys = Object.keys(c.req.query())
    const message = 'is not a known field; this call takes no query parameters'
    if (keys.length > 0) throw invalid([{ code: 'unrecognized_keys', keys, path: [], message }])
  }
  if (takes('bodyOptional', handlers)) await optionalJsonBody(c, next)
  else if (takes('body', handlers)) await jsonBody(c, next, bodyBytes(handlers))
  else {
    if (!operation.rawBody) await requireNoBody(c)
    await coverRequest(c, null)
    await next()
  }
  await answerRepeat(c, operation)
}

/** The handler may have failed before its read. A fault of the caller's credentials then takes precedence. */
async function outranked(c: Context<HttpEnv>): Promise<void> {
  try {
    await settle(c)
  } catch (error) {
    c.res = undefined
    throw error
  }
}
