import type { Context } from 'hono'

/** The bare address: a browser is led to the console, anything else is told what is served. */
export function front(c: Context): Response {
  c.header('Vary', 'Accept')
  if (c.req.header('Accept')?.includes('text/html')) return c.redirect('/console', 302)
  return c.json({
    api: '/platform/v1',
    console: '/console',
    openapi: '/openapi.json',
    errors: '/errors',
    health: '/healthz',
  })
}
