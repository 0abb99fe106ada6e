import type { MiddlewareHandler } from 'hono'
import type { HttpEnv } from './context'
import { ROW_WRITTEN } from './limits'
import { measure, measureErrors } from './measure'
import { countRead, routeOf } from './rate-limit'

/**
 * Measures each request, by route rather than path, so that the number of routes bounds the number of series. People see
 * where the time of their own request went (`Server-Timing`); API keys and vendors learn nothing about our database.
 */
export const requestMetrics: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const startedAt = Date.now()
  try {
    await next()
  } finally {
    c.get('endTurn')?.()
  }
  // A missing setting leaves `rt` unset: there is nowhere to write to.
  const rt = c.get('rt') as HttpEnv['Variables']['rt'] | undefined
  if (!rt) return
  const ms = Date.now() - startedAt
  const { trips, ms: d1_ms, rows_read, rows_written } = rt.cost()
  const caller = c.get('actor')?.type ?? 'none'
  if (caller === 'session') {
    c.res.headers.set('Server-Timing', `total;dur=${ms}, d1;dur=${d1_ms};desc="${trips} trips"`)
  }
  const cost = { ms, d1_trips: trips, d1_ms, rows_read, rows_written }
  measure(rt, 'request', { route: routeOf(c), status: String(c.res.status), caller, ...cost })
  measureErrors(rt, 'request')
  // A PUT can replace much at once.
  await countRead(c, rows_read + (c.req.method === 'PUT' ? ROW_WRITTEN * rows_written : 0))
}
