import type { Context } from 'hono'

/** `GET /`: redirects a browser to the console and lists the main paths for any other client. */
export function front(c: Context): Response {
  c.header('Vary', 'Accept')
  if (c.req.header('Accept')?.includes('text/html')) return c.redirect('/console', 302)
  return c.json({
    api: '/platform/v1',
    console: '/console',
    docs: '/docs',
    openapi: '/openapi.json',
    errors: '/errors',
    health: '/healthz',
  })
}
